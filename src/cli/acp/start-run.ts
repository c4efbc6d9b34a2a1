import { RpcError } from '../../acp/connection.ts';
import type { Answer } from '../../api/answer.ts';
import type { ProjectCalls } from '../../api/client/signed-client.ts';
import type { InputOf, ResultOf } from '../../api/operations/registry.ts';
import type { Editor } from './editor.ts';
import { fencedText } from './plain-text.ts';

type Started = Answer<ResultOf<'run_start'>>;

/** Starts a run like `baton run`. Questions that the command asks at a terminal are asked in the editor. */
export async function startRun(
  input: InputOf<'run_start'>,
  { client, editor, signal }: { readonly client: ProjectCalls; readonly editor: Editor; readonly signal: AbortSignal },
): Promise<Started> {
  let accepted: Pick<InputOf<'run_start'>, 'accept_no_checks' | 'accept_rules'> = {};
  for (;;) {
    const answer = await client.call('run_start', { ...input, ...accepted });
    if (answer.ok) return answer;
    const { code, rules, message, hint } = answer.error;
    const isNoChecks = code === 'no-checks' && accepted.accept_no_checks === undefined;
    const isRules = rules !== undefined && accepted.accept_rules === undefined;
    if (!isNoChecks && !isRules) return answer;
    const title = isRules ? 'Put these rules in force?' : 'Merge without checks from now on?';
    if (!(await confirm({ title, text: isRules ? message : `${message}.\n${hint}` }, editor, signal))) return answer;
    accepted = isRules ? { ...accepted, accept_rules: rules.sha256 } : { ...accepted, accept_no_checks: true };
  }
}

/** Any answer but a clear yes counts as no. */
async function confirm(
  { title, text }: { readonly title: string; readonly text: string },
  editor: Editor,
  signal: AbortSignal,
): Promise<boolean> {
  const call = { toolCallId: `confirm/${crypto.randomUUID()}`, title, kind: 'other', status: 'pending' } as const;
  const shown = { ...call, content: [fencedText(text)] };
  editor.showCall(shown);
  const yes = await editor.ask(shown, YES_NO, signal).then(
    (outcome) => outcome.outcome === 'selected' && outcome.optionId === 'yes',
    (error: unknown) => {
      if (error instanceof RpcError) return false;
      throw error;
    },
  );
  editor.showCall({ ...call, status: yes ? 'completed' : 'failed' });
  return yes;
}

const YES_NO = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No (recommended)', kind: 'reject_once' },
] as const;
