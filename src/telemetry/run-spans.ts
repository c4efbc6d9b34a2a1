import type { Events, RecordedEvent } from '../state/event.ts';
import { BoundedMap } from './bounded-map.ts';
import { labelValue } from './label-value.ts';
import { TELEMETRY_LIMITS } from './limits.ts';
import { hostOf, type OpenTraces, spanKey } from './open-traces.ts';
import type { Attributes } from './spans.ts';

/** Folds runs into spans: pipelines, steps, agents, gates, and the decisions that they wait for. */
export class RunSpans {
  readonly #traces: OpenTraces;
  /** The key of each pipeline's current step span; a step can be visited again. */
  readonly #steps = new BoundedMap<string>(TELEMETRY_LIMITS.underWay);
  /** The key of each agent's span. */
  readonly #agents = new BoundedMap<string>(TELEMETRY_LIMITS.underWay);

  constructor(traces: OpenTraces) {
    this.#traces = traces;
  }

  add({ type, data, at }: RecordedEvent): void {
    const traces = this.#traces;
    switch (type) {
      case 'PipelineStarted': {
        const { pipeline_id: id, name, task, parent: owner } = data;
        const about = { 'baton.pipeline.id': labelValue(id), 'baton.pipeline.name': labelValue(name) };
        const attributes = { ...about, ...hostOf(data) };
        traces.begin({ kind: 'pipeline', id, parent: this.#parentOf(owner, task), name, at, attributes });
        break;
      }
      case 'StepStarted':
        this.#beginStep(data, at);
        break;
      case 'StepFinished':
        traces.end(this.#steps.take(data.pipeline_id) ?? '', at, data.outcome);
        break;
      case 'PipelineFinished':
        traces.end(spanKey('pipeline', data.pipeline_id), at, data.outcome);
        break;
      case 'AgentRequested': {
        const { agent_id: id, plan, owner, task } = data;
        // An agent without a task has no claim: its run is the session.
        const kind = task === null ? 'session' : 'agent';
        this.#agents.set(id, spanKey(kind, id));
        const about = { 'baton.agent.id': labelValue(id), 'baton.agent.name': labelValue(plan.name) };
        const attributes = { ...about, ...hostOf(data) };
        traces.begin({ kind, id, parent: this.#parentOf(owner, task), name: plan.name, at, attributes });
        break;
      }
      case 'AgentStarted':
        this.#describeAgent(data.agent_id, { 'baton.agent.processes': data.start });
        break;
      case 'AgentBlocked':
        this.#describeAgent(data.agent_id, { 'baton.agent.blocks': data.blocks });
        break;
      case 'SessionUsed':
        this.#describeAgent(data.agent_id, usageOf(data));
        break;
      case 'AgentEnded':
        traces.end(this.#agents.get(data.agent_id) ?? '', at, data.outcome);
        break;
      case 'CommandRequested': {
        const { command_id: id, subject } = data;
        if (subject.kind !== 'gate') break;
        const parent = this.#agents.get(subject.agent_id) ?? '';
        const attributes = { 'baton.handler': subject.handler };
        traces.begin({ kind: 'check', id, parent, name: subject.handler, at, attributes });
        break;
      }
      case 'CommandFinished': {
        const outcome = data.exit_code === 0 ? 'passed' : 'failed';
        const attributes: Attributes = data.exit_code === null ? {} : { 'baton.exit_code': data.exit_code };
        traces.end(spanKey('check', data.command_id), at, outcome, attributes);
        break;
      }
      case 'CommandCancelled':
        traces.end(spanKey('check', data.command_id), at, 'cancelled');
        break;
      case 'DecisionOpened':
        this.#beginDecision(data, at);
        break;
      case 'DecisionResolved':
        traces.end(spanKey('decision', data.decision_id), at, 'resolved', { 'baton.decision.action': data.action });
        break;
      case 'DecisionWithdrawn':
        traces.end(spanKey('decision', data.decision_id), at, 'withdrawn');
        break;
      default:
    }
  }

  /** Begins a step, and so ends the previous one, whatever the entries between them are. */
  #beginStep({ pipeline_id, step, visit }: Events['StepStarted'], at: string): void {
    const id = `${pipeline_id}/${step}/${visit}`;
    this.#traces.end(this.#steps.take(pipeline_id) ?? '', at, 'left');
    this.#steps.set(pipeline_id, spanKey('step', id));
    const attributes = { 'baton.step.name': labelValue(step), 'baton.step.visit': visit };
    this.#traces.begin({ kind: 'step', id, parent: spanKey('pipeline', pipeline_id), name: step, at, attributes });
  }

  #beginDecision(
    { decision_id: id, source, agent_id, pipeline_id, task_id }: Events['DecisionOpened'],
    at: string,
  ): void {
    const parents = [
      this.#agents.get(agent_id ?? ''),
      this.#steps.get(pipeline_id ?? ''),
      spanKey('pipeline', pipeline_id ?? ''),
      spanKey('task', task_id ?? ''),
    ];
    const parent = parents.find((key) => key !== undefined && this.#traces.has(key)) ?? '';
    const attributes = { 'baton.decision.id': labelValue(id), 'baton.decision.source': source };
    this.#traces.begin({ kind: 'decision', id, parent, name: source, at, attributes });
  }

  /**
   * The span of the step that started the run, or of the session that it works for. Undefined for a run that a person
   * started.
   */
  #parentOf(owner: Events['AgentRequested']['owner'], task: Events['AgentRequested']['task']): string | undefined {
    if (owner !== null) return this.#steps.get(owner.pipeline_id) ?? '';
    return task === null ? undefined : spanKey('session', `${task.task_id}/${task.epoch}`);
  }

  #describeAgent(agentId: string, attributes: Attributes): void {
    this.#traces.describe(this.#agents.get(agentId) ?? '', attributes);
  }
}

function usageOf({ input_tokens, output_tokens, cached_tokens, cost_millicents }: Events['SessionUsed']): Attributes {
  return {
    'baton.tokens.input': input_tokens,
    'baton.tokens.output': output_tokens,
    'baton.tokens.cached': cached_tokens,
    ...(cost_millicents === null ? {} : { 'baton.cost.dollars': cost_millicents / 100_000 }),
  };
}
