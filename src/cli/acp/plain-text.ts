import { type TextBlock, textBlock } from '../../acp/messages.ts';
import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { stripTerminalCodes } from '../../protocol/text/terminal-codes.ts';

/**
 * Prepares text of agents and people for an editor: without terminal codes and control characters, and bounded. If it
 * is too long, the end is kept.
 */
export function plainText(text: string, most = MAX_CHARACTERS): string {
  const plain = showInvisible(stripTerminalCodes(text).replaceAll(/\r\n?/g, '\n'));
  return plain.length <= most ? plain : `…${plain.slice(plain.length - most)}`;
}

/** Renders text on one line of a message. Editors render Markdown, so links, images and HTML must be escaped. */
export function messageLine(text: string): string {
  const line = plainText(text).replaceAll(/\s+/g, ' ').trim();
  const shown = line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line;
  return shown.replaceAll(/[[<`]/g, String.raw`\$&`);
}

/** Renders output of programs and agents as content of a tool call. The fence is longer than any in the text. */
export function fencedText(text: string): { readonly type: 'content'; readonly content: TextBlock } {
  const plain = plainText(text).trimEnd();
  const longest = Math.max(2, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return { type: 'content', content: textBlock(`${fence}\n${plain}\n${fence}`) };
}

const MAX_CHARACTERS = 16_384;
const MAX_LINE_CHARACTERS = 400;
