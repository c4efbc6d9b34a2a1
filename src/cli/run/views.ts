/** What the daemon says about runs and decisions, as far as it is shown. The texts are agents' and people's: not yet safe to print. */
export interface StatusView {
  /** The newest entry that it takes into account. */
  readonly seq: number;
  /** How far the first copy of the repository is, while it is made. */
  readonly importing?: string;
  /** The verdict of the daemon; false if it sent none. */
  readonly allClear: boolean;
  /** The line that says what needs a person and what runs, as the daemon made it. */
  readonly summary: string;
  readonly needsYou: readonly DecisionView[];
  /** What else waits for a person, without a question that could be answered. */
  readonly attention: readonly AttentionView[];
  readonly pipelines: readonly PipelineView[];
  readonly agents: readonly AgentView[];
  /** How many tasks have each status. */
  readonly tasks: readonly (readonly [status: string, count: number])[];
}

export interface AttentionView {
  readonly kind: string;
  /** How many things it stands for. */
  readonly count: number;
  readonly title: string;
  readonly context: string;
  /** The command to type. */
  readonly next: string;
}

export interface AgentView {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  /** What was started: `scripted`, `claude`, a command. */
  readonly run: string;
  readonly outcome: string | null;
  readonly pipelineId: string | null;
  readonly step: string | null;
  readonly taskId: string | null;
  readonly worker: string | null;
  readonly since: string | null;
  readonly reason: string | null;
  readonly decisionId: string | null;
  readonly process: string | null;
  readonly pid: string | null;
  readonly log: string | null;
  /** Its client has an interactive mode that a person can take it into. */
  readonly interactive: boolean;
  /** Who has it in their terminal. */
  readonly attached: string | null;
}

export interface PipelineView {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly parentId: string | null;
  readonly parentStep: string | null;
  readonly taskId: string | null;
  readonly since: string | null;
  readonly endedAt: string | null;
  readonly reason: string | null;
  readonly decisionId: string | null;
  readonly workspace: string | null;
  readonly steps: readonly StepView[];
}

export interface StepView {
  readonly name: string;
  /** `pending` before its turn. */
  readonly status: string;
  readonly since: string | null;
  readonly reason: string | null;
  readonly agentId: string | null;
  readonly childId: string | null;
  readonly visits: number;
  /** The last words of what it printed. */
  readonly output: string | null;
  /** The file with all of it, where a command ran it. */
  readonly log: string | null;
}

export interface DecisionView {
  readonly id: string;
  readonly source: string;
  readonly title: string;
  readonly context: string;
  readonly options: readonly { readonly label: string; readonly action: string; readonly recommended: boolean }[];
  readonly agentId: string | null;
  readonly pipelineId: string | null;
  readonly taskId: string | null;
  readonly openedAt: string | null;
  readonly result: Fields | null;
}

export function parseStatus(result: unknown): StatusView {
  const { seq, importing, all_clear, summary, needs_you, attention, pipelines, agents, tasks } = fieldsIn(result);
  return {
    seq: numberIn(seq),
    ...(typeof importing === 'string' ? { importing } : {}),
    allClear: all_clear === true,
    summary: findText(summary) ?? 'The daemon does not report whether anything needs you.',
    needsYou: listIn(needs_you).map(parseDecision),
    attention: listIn(attention).map(parseAttention),
    pipelines: listIn(pipelines).map(parsePipeline),
    agents: listIn(agents).map(parseAgent),
    tasks: Object.entries(fieldsIn(tasks)).map(([status, count]) => [status, numberIn(count)]),
  };
}

function parseAttention({ kind, count, title, context, next }: Fields): AttentionView {
  return {
    kind: textIn(kind),
    count: numberIn(count),
    title: textIn(title),
    context: textIn(context),
    next: textIn(next),
  };
}

export function parseAgent(value: Fields): AgentView {
  return {
    id: textIn(value['id']),
    name: textIn(value['name']),
    status: textIn(value['status']),
    run: textIn(value['run']),
    outcome: findText(value['outcome']),
    pipelineId: findText(value['pipeline_id']),
    step: findText(value['step']),
    taskId: findText(value['task_id']),
    worker: findText(value['worker']),
    since: findText(value['requested_at']),
    reason: findText(value['reason']),
    decisionId: findText(value['decision_id']),
    process: findText(value['process']),
    pid: findText(value['pid']),
    log: findText(value['log']),
    interactive: value['interactive'] === true,
    attached: findText(value['attached']),
  };
}

export function parsePipeline(value: Fields): PipelineView {
  const parent = fieldsIn(value['parent']);
  return {
    id: textIn(value['id']),
    name: textIn(value['name']),
    status: textIn(value['status']),
    parentId: findText(parent['pipeline_id']),
    parentStep: findText(parent['step']),
    taskId: findText(value['task_id']),
    since: findText(value['started_at']),
    endedAt: findText(value['ended_at']),
    reason: findText(value['reason']),
    decisionId: findText(value['decision_id']),
    workspace: findText(fieldsIn(value['workspace'])['path']),
    steps: listIn(value['steps']).map(parseStep),
  };
}

function parseStep(value: Fields): StepView {
  return {
    name: textIn(value['name']),
    status: textIn(value['status']),
    since: findText(value['since']),
    reason: findText(value['reason']),
    agentId: findText(value['agent_id']),
    childId: findText(value['pipeline_id']),
    visits: numberIn(value['visits']),
    output: findText(value['output']),
    log: findText(value['log']),
  };
}

export function parseDecision(value: Fields): DecisionView {
  return {
    id: textIn(value['id']),
    source: textIn(value['source']),
    title: textIn(value['title']),
    context: textIn(value['context']),
    options: listIn(value['options']).map(({ label, action, recommended }) => ({
      label: textIn(label),
      action: textIn(action),
      recommended: recommended === true,
    })),
    agentId: findText(value['agent_id']),
    pipelineId: findText(value['pipeline_id']),
    taskId: findText(value['task_id']),
    openedAt: findText(value['opened_at']),
    result: value['result'] === null || value['result'] === undefined ? null : fieldsIn(value['result']),
  };
}

/** Ids are long and random; wherever one is asked for, its beginning is enough. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Reading results of the daemon field by field. A newer daemon may say more, an older one less; neither breaks a command. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsIn(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsIn) : [];
}

export function textIn(value: unknown): string {
  return findText(value) ?? '';
}

export function findText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

export function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
