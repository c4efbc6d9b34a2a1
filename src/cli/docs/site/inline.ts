/** Returns the address of a link or image; undefined if the site does not have it. */
export type ResolveLink = (target: string) => string | undefined;

const TOKEN =
  /(?<code>`+)(?<codeText>[^]*?[^`])\k<code>(?!`)|!\[(?<alt>[^\]]*)\]\((?<image>[^)\s]+)\)|\[(?<label>(?:[^[\]]|`[^`]*`|\[[^\]]*\])+)\]\((?<link>[^)\s]+)\)|<(?<auto>https?:[^>\s]+)>|<a id="(?<id>[\w-]+)"><\/a>|\*\*(?<bold>[^]+?)\*\*|\*(?<italic>[^\s*][^*]*?)\*|\\(?<plain>[\\`*_{}[\]()#+.!|<>-])/g;

/** Renders the text of one block: code, links, images, bold, italic. Anything else is plain text. */
export function renderInline(text: string, resolve: ResolveLink): string {
  let html = '';
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    html += escapeHtml(text.slice(end, match.index)) + renderToken(match.groups ?? {}, resolve);
    end = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(end));
}

function renderToken(token: Readonly<Record<string, string | undefined>>, resolve: ResolveLink): string {
  const { codeText, alt, image, label, link, auto, id, bold, italic, plain } = token;
  if (codeText !== undefined) return `<code>${escapeHtml(codeText.trim())}</code>`;
  if (image !== undefined) return `<img src="${escapeHtml(resolve(image) ?? image)}" alt="${escapeHtml(alt ?? '')}">`;
  if (link !== undefined) {
    const href = resolve(link);
    const inner = renderInline(label ?? '', resolve);
    return href === undefined ? inner : `<a href="${escapeHtml(href)}">${inner}</a>`;
  }
  if (auto !== undefined) return `<a href="${escapeHtml(auto)}">${escapeHtml(auto)}</a>`;
  if (id !== undefined) return `<a id="${id}"></a>`;
  if (bold !== undefined) return `<strong>${renderInline(bold, resolve)}</strong>`;
  if (italic !== undefined) return `<em>${renderInline(italic, resolve)}</em>`;
  return escapeHtml(plain ?? '');
}

/** The words of a block without its markup, for the search. */
export function plainText(text: string): string {
  return renderInline(text, () => undefined)
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
