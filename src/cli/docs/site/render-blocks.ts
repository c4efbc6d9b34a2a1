import type { Block } from './blocks.ts';
import { escapeHtml, plainText, renderInline, type ResolveLink } from './inline.ts';

export function renderBlocks(blocks: readonly Block[], resolve: ResolveLink): string {
  return blocks.map((block) => renderBlock(block, resolve)).join('\n');
}

function renderBlock(block: Block, resolve: ResolveLink): string {
  const inline = (text: string): string => renderInline(text, resolve);
  switch (block.kind) {
    case 'heading': {
      const anchor = anchorOf(block.text);
      const link =
        block.level === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
      return `<h${block.level} id="${anchor}">${inline(block.text)}${link}</h${block.level}>`;
    }
    case 'code':
      // Focusable, because it scrolls.
      return `<pre tabindex="0"><code>${escapeHtml(block.text)}</code></pre>`;
    case 'table': {
      const row = (tag: string, cells: readonly string[]): string =>
        `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`;
      const head = `<thead>${row('th', block.head)}</thead>`;
      return `<div class="wide" tabindex="0"><table>${head}<tbody>${block.rows.map((cells) => row('td', cells)).join('\n')}</tbody></table></div>`;
    }
    case 'list': {
      const tag = block.isOrdered ? 'ol' : 'ul';
      return `<${tag}>${block.items.map((item) => `<li>${renderItem(item, resolve)}</li>`).join('\n')}</${tag}>`;
    }
    case 'html':
      return block.text;
    default:
      return `<p>${inline(block.text)}</p>`;
  }
}

/** A single paragraph needs no tag. */
function renderItem(blocks: readonly Block[], resolve: ResolveLink): string {
  const [first, ...rest] = blocks;
  if (first?.kind !== 'paragraph') return renderBlocks(blocks, resolve);
  return [renderInline(first.text, resolve), renderBlocks(rest, resolve)].filter((part) => part !== '').join('\n');
}

/** The same anchor that GitHub generates. */
export function anchorOf(heading: string): string {
  return plainText(heading)
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}
