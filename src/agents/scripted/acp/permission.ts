import { RpcError } from '../../../acp/connection.ts';
import type { PermissionOption, ToolCallParts } from '../../../acp/messages.ts';
import { fieldsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import { type AcpClient, orCancelled } from './client.ts';

export interface Permission {
  readonly kind: PermissionOption['kind'] | 'none';
  /** The answer as text, for the conversation. */
  readonly answer: string;
}

/** Asks the client. Any answer other than an option counts as a refusal. */
export async function askPermission(
  client: AcpClient,
  toolCall: ToolCallParts,
  signal: AbortSignal,
): Promise<Permission | 'cancelled'> {
  const asked = client.request('session/request_permission', { toolCall, options: OPTIONS });
  try {
    const response = await orCancelled(asked, signal);
    if (response === 'cancelled') return response;
    const { outcome, optionId } = fieldsOf(response['outcome']);
    if (outcome === 'cancelled') return 'cancelled';
    const chosen = OPTIONS.find((option) => option.optionId === optionId);
    return chosen === undefined
      ? { kind: 'none', answer: `unknown option: ${textOf(optionId)}` }
      : { kind: chosen.kind, answer: chosen.name };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { kind: 'none', answer: `the client refused: ${error.message}` };
  }
}

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];
