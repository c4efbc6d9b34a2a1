/**
 * What every reader (JSON, YAML, plain values) turns its input into, so that one checker serves them all. `at` is the offset
 * in the text; `source` is a scalar as it was written, since `1e5` may be a number to YAML and a commit to us.
 */
export type Node = ObjectNode | ListNode | TextNode | ScalarNode;

export interface ObjectNode {
  readonly kind: 'object';
  readonly at: number;
  /** The place of whatever is missing from it: its closing brace in JSON, its first field in YAML, which has no end. */
  readonly end: number;
  readonly fields: ReadonlyMap<string, ObjectField>;
}

export interface ObjectField {
  readonly at: number;
  readonly value: Node;
}

export interface ListNode {
  readonly kind: 'list';
  readonly at: number;
  readonly items: readonly Node[];
}

export interface TextNode {
  readonly kind: 'text';
  readonly at: number;
  readonly text: string;
}

export interface ScalarNode {
  readonly kind: 'number' | 'boolean' | 'null' | 'other';
  readonly at: number;
  readonly value: number | boolean | null;
  readonly source: string;
  /** Written without quotes in YAML, where a field that must be text reads it as text. */
  readonly plain: boolean;
}

/** What stopped a reader: where, and what was wrong there. */
export interface Unreadable {
  readonly code: string;
  readonly what: string;
  readonly at: number;
  readonly hint: string;
}

/** A whole text, read in the syntax it turned out to have. */
export interface SyntaxDocument {
  readonly syntax: 'JSON' | 'YAML';
  readonly read: ReadResult<Node>;
}

export type ReadResult<T> =
  | { readonly ok: true; readonly node: T }
  | { readonly ok: false; readonly unreadable: Unreadable };
