import type { Fields } from '../../protocol/shape/read-unknown.ts';

/** The content of a client's stream that is shown to people, besides `StreamEvent`s. */
export type Content =
  /** The agent's text; a piece continues in the next line. */
  | { readonly kind: 'text'; readonly text: string; readonly isPiece?: true }
  | { readonly kind: 'thinking'; readonly text: string }
  /** Text that the client passed to the agent: a prompt, or the answer of a hook. */
  | { readonly kind: 'input'; readonly text: string }
  | { readonly kind: 'tool'; readonly tool: string; readonly what: string }
  | { readonly kind: 'result'; readonly text: string; readonly failed: boolean }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'problem'; readonly text: string };

/** Returns null for an unknown line, and an empty list for a line that shows nothing. */
export interface ReadContent {
  (event: Fields): ContentOfLine | null;
}

export interface ContentOfLine {
  readonly content: readonly Content[];
  /** Set for a subagent's content, whose text is not the agent's. */
  readonly isNested?: boolean;
}

export const NOTHING: ContentOfLine = { content: [] };

export function show(...content: readonly Content[]): ContentOfLine {
  return { content };
}
