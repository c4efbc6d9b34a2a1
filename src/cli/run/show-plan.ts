import { renderDollars } from '../../protocol/price.ts';
import { type ChecksAnswer, describeChecks } from '../../runbook/runbook.ts';
import { printable } from '../text.ts';
import { type Fields, fieldsIn, findText, listIn, textIn } from './views.ts';

/** What a run would do: its variables, its steps, and what would happen first. */
export function renderPlan(result: unknown): string {
  const { plan, vars, effects, entries } = fieldsIn(result);
  const lines = [
    ...renderPlanned(fieldsIn(plan)),
    ...Object.entries(fieldsIn(vars)).map(([name, value]) => `with ${name} = ${textIn(value)}`),
    ...listIn(effects).map((effect) => `first: ${describeEffect(effect, listIn(entries))}`),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function renderPlanned(plan: Fields): string[] {
  const agents = fieldsIn(plan['agents']);
  switch (plan['kind']) {
    case 'agent':
      return [`agent ${describeAgent(fieldsIn(plan['agent']))}`];
    case 'shell':
      return [`shell ${textIn(plan['command'])}`];
    case 'workflow':
      return renderWorkflow(plan);
    default: {
      const pipelines = fieldsIn(plan['pipelines']);
      return renderPlannedPipeline(textIn(plan['pipeline']), { pipelines, agents }, '', []);
    }
  }
}

/** Who does what, in the order in which it is done. */
function renderWorkflow({ mode, roles, checks, checks_answer, merge, pull_requests, lacks_gh }: Fields): string[] {
  const { method, into } = fieldsIn(merge);
  const players = listIn(roles).map(
    ({ role, agent, run }) => `  ${textIn(role)}: agent ${textIn(agent)} (${textIn(run)})`,
  );
  const required = listIn(checks).map(
    ({ name, run }) => `  check ${textIn(name)}: ${run === null ? 'reported by GitHub' : textIn(run)}`,
  );
  const where = findText(pull_requests);
  const pulls =
    where === ''
      ? ', by pull requests, for which no remote is at GitHub and no [github] repository is named'
      : `, by pull requests at ${where}${lacks_gh === true ? ', for which gh is not on the PATH' : ''}`;
  return [
    `workflow issue (${textIn(mode)})`,
    ...players,
    ...required,
    ...(required.length === 0 ? [`  ${describeChecks(answerIn(checks_answer))}`] : []),
    `  merge: ${textIn(method)} into ${into === null ? 'the main branch' : textIn(into)}${where === null ? '' : pulls}`,
  ];
}

/** A daemon of an earlier version does not say. */
function answerIn(value: unknown): ChecksAnswer {
  return value === 'none' || value === 'declined' ? value : 'unanswered';
}

interface Known {
  readonly pipelines: Fields;
  readonly agents: Fields;
}

function renderPlannedPipeline(name: string, known: Known, indent: string, above: readonly string[]): string[] {
  const { steps, budget } = fieldsIn(known.pipelines[name]);
  return [
    `${indent}pipeline ${name}${describeBudget(fieldsIn(budget))}`,
    ...listIn(steps).flatMap((step) => {
      const run = fieldsIn(step['run']);
      const nested = run['kind'] === 'pipeline' ? textIn(run['pipeline']) : '';
      const line = `${indent}  ${textIn(step['name'])}: ${describeRun(run, known.agents)}${describeTurns(step)}`;
      // Checked runbooks have no cycles; what is shown here need not be one.
      const below = nested === '' || above.includes(nested) ? [] : [...above, nested];
      return below.length === 0 ? [line] : [line, ...renderPlannedPipeline(nested, known, `${indent}    `, below)];
    }),
  ];
}

function describeRun({ kind, command, agent, pipeline }: Fields, agents: Fields): string {
  if (kind === 'shell') return `shell ${textIn(command)}`;
  return kind === 'agent' ? `agent ${describeAgent(fieldsIn(agents[textIn(agent)]))}` : `pipeline ${textIn(pipeline)}`;
}

function describeAgent(agent: Fields): string {
  return `${textIn(agent['name'])} (${textIn(agent['run'])})${describeBudget(fieldsIn(agent['budget']))}`;
}

/** What it may use before a person is asked. */
function describeBudget({ tokens, cost_millicents: cost, time_ms: time }: Fields): string {
  const parts = [
    typeof tokens === 'number' ? `${tokens} tokens` : '',
    typeof cost === 'number' ? renderDollars(cost) : '',
    typeof time === 'number' ? `${time / 1000} s` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `, budget ${parts.join(', ')}`;
}

function describeTurns({ on_done, on_fail, on_cancel, timeout_ms, workspace }: Fields): string {
  const fail = fieldsIn(on_fail);
  const turns = [
    on_done === undefined ? '' : `then ${textIn(on_done)}`,
    fail['retries'] === undefined ? '' : `${textIn(fail['retries'])} more tries`,
    fail['step'] === undefined ? '' : `if it fails ${textIn(fail['step'])}`,
    on_cancel === undefined ? '' : `if it is cancelled ${textIn(on_cancel)}`,
    timeout_ms === undefined ? '' : `at most ${Number(timeout_ms) / 1000} s`,
    workspace === undefined ? '' : `in a worktree on ${textIn(fieldsIn(workspace)['branch'])}`,
  ].filter((turn) => turn !== '');
  return turns.length === 0 ? '' : `  [${turns.join(', ')}]`;
}

/** What would be done outside, before anything else can happen. */
function describeEffect(effect: Fields, entries: readonly Fields[]): string {
  switch (effect['kind']) {
    case 'start-agent':
      return `start agent ${nameOf(effect['agentId'], entries)}`;
    case 'run-command':
      return `run ${textIn(effect['command'])}`;
    case 'prepare-workspace':
      return `make a worktree on ${textIn(effect['branch'])}`;
    case 'wait':
      return `wait until ${textIn(effect['due'])}`;
    case 'notify':
      return `tell a person: ${textIn(effect['title'])}`;
    default:
      return textIn(effect['kind']);
  }
}

function nameOf(agentId: unknown, entries: readonly Fields[]): string {
  const data = entries.map((entry) => fieldsIn(entry['data'])).find(({ agent_id }) => agent_id === agentId);
  return textIn(fieldsIn(data?.['plan'])['name']);
}
