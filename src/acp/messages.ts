import { type Fields, fieldsOf, objectsOf, textOf } from '../protocol/shape/read-unknown.ts';

/** The version of ACP that Baton speaks. Baton refuses an agent that answers with another version. */
export const ACP_VERSION = 1;

export type ToolKind =
  | 'read'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'execute'
  | 'think'
  | 'fetch'
  | 'switch_mode'
  | 'other';

export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed';
export type StopReason = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled';

export interface PlanEntry {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly priority: 'high' | 'medium' | 'low';
}

export interface Diff {
  readonly type: 'diff';
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}

export type ToolContent =
  | { readonly type: 'content'; readonly content: TextBlock }
  | Diff
  | { readonly type: 'terminal'; readonly terminalId: string };

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** The fields of a tool call. An update has only the changed ones. */
export interface ToolCallParts {
  readonly toolCallId: string;
  readonly title?: string;
  readonly kind?: ToolKind;
  readonly status?: ToolStatus;
  readonly content?: readonly ToolContent[];
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

/** What an agent reports during a turn: the updates that the scripted agent sends. */
export type SessionUpdate =
  | { readonly sessionUpdate: 'user_message_chunk'; readonly content: TextBlock }
  | { readonly sessionUpdate: 'agent_message_chunk'; readonly content: TextBlock }
  | { readonly sessionUpdate: 'agent_thought_chunk'; readonly content: TextBlock }
  | ({ readonly sessionUpdate: 'tool_call'; readonly title: string } & ToolCallParts)
  | ({ readonly sessionUpdate: 'tool_call_update' } & ToolCallParts)
  | { readonly sessionUpdate: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly sessionUpdate: 'current_mode_update'; readonly currentModeId: string }
  | { readonly sessionUpdate: 'available_commands_update'; readonly availableCommands: readonly AvailableCommand[] }
  | {
      readonly sessionUpdate: 'usage_update';
      readonly used: number;
      readonly size: number;
      readonly cost?: { readonly amount: number; readonly currency: string };
    };

export interface AvailableCommand {
  readonly name: string;
  readonly description: string;
  readonly input?: { readonly hint: string };
}

const PERMISSION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
type PermissionKind = (typeof PERMISSION_KINDS)[number];

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: PermissionKind;
}

export type PermissionOutcome =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' };

export function textBlock(text: string): TextBlock {
  return { type: 'text', text };
}

/**
 * The options of a permission request, without those of an unknown kind, because Baton could not tell what they mean.
 */
export function readOptions(value: unknown): readonly PermissionOption[] {
  return objectsOf(value).flatMap(({ optionId, name, kind }) => {
    const known = PERMISSION_KINDS.find((each) => each === kind);
    return typeof optionId === 'string' && known !== undefined
      ? [{ optionId, name: textOf(name) || known, kind: known }]
      : [];
  });
}

/** The names that other clients give to tools of these kinds. */
export const TOOL_NAMES: ReadonlyMap<string, string> = new Map<ToolKind, string>([
  ['read', 'Read'],
  ['edit', 'Edit'],
  ['delete', 'Delete'],
  ['move', 'Move'],
  ['search', 'Grep'],
  ['execute', 'Bash'],
  ['fetch', 'WebFetch'],
]);

/** The text of one content block, or of a list of them: texts, embedded texts, and the names of other resources. */
export function readText(content: unknown): string {
  if (Array.isArray(content)) return content.map(readText).filter(Boolean).join('\n');
  const block = fieldsOf(content);
  if (block['type'] === 'text') return textOf(block['text']);
  if (block['type'] === 'resource') return readResource(fieldsOf(block['resource']));
  return block['type'] === 'resource_link' ? textOf(block['uri']) : '';
}

function readResource({ uri, text }: Fields): string {
  return typeof text === 'string' ? `${textOf(uri)}\n${text}` : textOf(uri);
}

/** The diffs among the content of a tool call. */
export function readDiffs(content: unknown): readonly Diff[] {
  return objectsOf(content).flatMap(({ type, path, oldText, newText }) =>
    type === 'diff' && typeof path === 'string' && typeof newText === 'string'
      ? [{ type, path, oldText: typeof oldText === 'string' ? oldText : null, newText }]
      : [],
  );
}
