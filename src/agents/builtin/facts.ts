/** What a built-in role is told about its task: the answer of `workflow_get`, as far as it is used. */
export interface RoleFacts {
  readonly taskId: string;
  readonly title: string;
  readonly phase: string;
  readonly issue_url: string;
  readonly issue_number: string;
  readonly pr_url: string;
  readonly pr_number: string;
  readonly workspace: string | null;
  readonly branch: string | null;
  readonly port: number | null;
  readonly exitProtocol: boolean;
  readonly checks: readonly { readonly name: string; readonly outcome: string }[];
  readonly commands: {
    readonly install?: string;
    readonly build?: string;
    readonly smoke?: string;
    readonly validate: readonly RoleCommand[];
  };
}

export interface RoleCommand {
  readonly name: string;
  readonly run: string;
  readonly timeoutMs?: number;
}

/** The daemon is of the same version: its answer is taken at its word, field by field. */
export function parseRoleFacts(answer: unknown): RoleFacts {
  const view = answer as View; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const { task_id, title, phase, addresses, workspace, branch, port, exit_protocol, checks, commands } = view;
  const list = checks?.checks ?? [];
  return {
    taskId: task_id,
    title,
    phase,
    ...addresses,
    workspace,
    branch,
    port,
    exitProtocol: exit_protocol,
    checks: list,
    commands,
  };
}

interface View {
  readonly task_id: string;
  readonly title: string;
  readonly phase: string;
  readonly addresses: Pick<RoleFacts, 'issue_url' | 'issue_number' | 'pr_url' | 'pr_number'>;
  readonly workspace: string | null;
  readonly branch: string | null;
  readonly port: number | null;
  readonly exit_protocol: boolean;
  readonly checks: { readonly checks: RoleFacts['checks'] } | null;
  readonly commands: RoleFacts['commands'];
}
