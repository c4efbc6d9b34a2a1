import type { Workflow } from '../../protocol/handoff/extend-workflow.ts';
import {
  createHandoffDialect,
  type Handoff,
  type HandoffDialect,
  type HandoffEdge,
  type HandoffElement,
  WORKFLOW_COMPLETE,
} from '../../protocol/handoff/index.ts';
import { type FormKind, PLACEHOLDERS } from '../../protocol/placeholder.ts';
import { renderResult } from '../../protocol/result.ts';
import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { renderYaml } from '../../protocol/text/yaml.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { missionIds, type Task } from '../../state/tasks/task.ts';
import { taskUrls } from '../../state/workflow/gate-handoffs.ts';

export interface Form {
  readonly kind: FormKind;
  /** The receiver of a handoff. */
  readonly to?: string;
  /** Relative to the session's folder. */
  readonly file: string;
  readonly when: string;
  readonly send: string;
  readonly text: string;
}

export interface FormFacts {
  readonly task: Task;
  readonly role: string | null;
  /** Null if Baton does not know it, as for a manual claim. The form then has a placeholder. */
  readonly workspace: string | null;
  readonly branch: string | null;
  readonly head: string | null;
  readonly port: number | null;
  readonly workflow: Workflow;
  readonly at: string;
}

/**
 * Returns the messages that a session of this role may have to send, with every known value filled in. Each is valid as
 * it is.
 */
export function buildForms(facts: FormFacts): readonly Form[] {
  return [...handoffForms(facts), resultForm(facts), recordForm(facts)];
}

/** Renders the forms as separate files. A comment, which leaves the form valid, says when to use it. */
export function renderForms(forms: readonly Form[]): string {
  return forms
    .map(({ kind, to, when, text }) => {
      const about = to === undefined ? when : `To ${to}: ${when}`;
      const comment = kind === 'handoff' ? `<!-- ${about.replaceAll('--', '–')} -->` : `# ${about}`;
      return `${comment}\n${text.trimEnd()}\n`;
    })
    .join('\n');
}

function handoffForms({ workflow, role, ...facts }: FormFacts): Form[] {
  const agent = workflow.roles.find(({ name }) => name === role)?.agent;
  if (agent === undefined) return [];
  const known = knownValues(facts);
  const dialect = createHandoffDialect(workflow);
  const closing: HandoffEdge[] = WORKFLOW_COMPLETE.from === agent ? [WORKFLOW_COMPLETE] : [];
  const edges = [...workflow.edges.filter(({ from }) => from === agent || from === '*'), ...closing];
  return edges.map((edge) => {
    const file = edge.to === null ? 'workflow-complete.xml' : `handoff-to-${edge.to}.xml`;
    const send = `baton handoff send .baton/session/${file}`;
    const to = edge.to ?? 'workflow-complete';
    return { kind: 'handoff', to, file, when: edge.when, send, text: fill(edge, agent, known, dialect) };
  });
}

type KnownValues = Readonly<Record<string, string | number>>;

function knownValues({ task, workspace, branch, port, at }: Omit<FormFacts, 'workflow' | 'role'>): KnownValues {
  return {
    ...taskUrls(task),
    issue_title: toXmlLine(task.title) || task.id,
    ...(branch === null ? {} : { branch }),
    ...(workspace === null ? {} : { workspace_path: workspace, workspace_type: 'worktree' }),
    ...(port === null ? {} : { port }),
    timestamp: at,
  };
}

/** A title may hold characters that XML cannot represent. Without this, no session of the task could be prepared. */
function toXmlLine(text: string): string {
  const line = text.toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return showInvisible(line).replaceAll(/[\uFFFE\uFFFF]/g, '');
}

function fill(edge: HandoffEdge, agent: string, known: KnownValues, { render }: HandoffDialect): string {
  const entries = Object.entries(edge.elements)
    .filter(([name, element]) => element.optional !== true || name in known)
    .map(([name, element]) => [name, known[name] ?? blankValue(element)]);
  const ends = edge.to === null ? { kind: 'workflow-complete' } : { kind: 'handoff', from: agent, to: edge.to };
  // The elements of an edge define its handoff, and the reader checks the content.
  return render({ ...ends, ...Object.fromEntries(entries) } as Handoff); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function blankValue(element: HandoffElement): unknown {
  switch (element.kind) {
    case 'text':
      return PLACEHOLDERS[element.format ?? 'text'];
    case 'choice':
      return element.values[0] ?? PLACEHOLDERS.text;
    case 'count':
      return element.min ?? 0;
    case 'flag':
      return false;
    case 'list':
      return [
        element.attributes === undefined
          ? PLACEHOLDERS.text
          : { ...blankOf(element.attributes), text: PLACEHOLDERS.text },
      ];
    case 'group':
      return blankOf(element.elements);
    case 'free':
      return '';
  }
}

function blankOf(elements: Readonly<Record<string, HandoffElement>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(elements).map(([name, element]) => [name, blankValue(element)]));
}

function resultForm({ task, at }: FormFacts): Form {
  const text = renderResult({
    version: '1',
    task_id: missionIds(task).taskId,
    status: 'completed',
    files_modified: [],
    log: [
      { level: 'info', message: PLACEHOLDERS.did, timestamp: at },
      { level: 'tip', message: PLACEHOLDERS.tip, timestamp: at },
    ],
    completed_at: at,
  });
  const when = 'always, once; list every file that differs from the base, with `created`, `modified` or `deleted`';
  const send = 'baton result submit .baton/session/result.yaml';
  return { kind: 'result', file: 'result.yaml', when, send, text };
}

function recordForm({ task, branch, head }: FormFacts): Form {
  const record: ThoughtRecord = {
    task_id: task.id,
    branch: branch ?? PLACEHOLDERS.branch,
    commit_sha: head ?? PLACEHOLDERS.sha,
    tests_run: [],
    summary: PLACEHOLDERS.summary,
    blockers: [],
    files_changed: [],
    related_thought_records: task.records.slice(-1).map(({ id }) => id),
  };
  const when = 'if you have committed; commit_sha is the commit with the work: git rev-parse HEAD';
  const send = 'baton thought record .baton/session/record.yaml';
  return { kind: 'record', file: 'record.yaml', when, send, text: renderYaml(record) };
}
