import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { PipelineRun } from '../../state/runs/pipeline-run.ts';
import { type Acts, pick, type Scene } from './scene.ts';
import { pipelinePlan, standaloneAgent } from './plans.ts';

/** What people do with agents and pipelines. */
export const RUN_ACTS = {
  'start agent': ({ world, say, n }) =>
    say({ kind: 'start-agent', command: { id: world.newId('a'), plan: standaloneAgent(n), vars: {} } }),
  'kill agent': (scene) => ofAgent(scene, ({ id }) => scene.say({ kind: 'kill-agent', command: { agentId: id } })),
  'send message': (scene) =>
    ofAgent(scene, ({ id }) =>
      scene.say({ kind: 'send-message', command: { agentId: id, messageId: scene.world.newId('m'), text: 'Hello.' } }),
    ),
  attach: (scene) =>
    ofAgent(scene, ({ id, host }) => {
      const there = scene.world.host(host ?? '') ?? scene.host;
      return there.submit({ kind: 'attach-agent', command: { agentId: id, by: 'ada' } }, scene.who).kind === 'ok';
    }),
  detach: ({ world, host }) => {
    const attached = [...host.state.agents.values()].find((each) => each.attach?.state === 'there');
    const process = world.processes.get(`${attached?.id ?? ''}:${attached?.attach?.start ?? 0}`);
    process?.kill({ code: 0, signal: null });
    return process !== undefined;
  },
  'run pipeline': ({ world, say, n }) =>
    say({ kind: 'start-pipeline', command: { id: world.newId('p'), name: 'main', plan: pipelinePlan(n), vars: {} } }),
  'cancel pipeline': (scene) => ofPipeline(scene, ({ id }) => scene.say({ kind: 'cancel-pipeline', command: { id } })),
  'retry pipeline': (scene) =>
    ofPipeline(scene, ({ id }) =>
      scene.say({ kind: 'retry-pipeline', command: { id, newId: scene.world.newId('p') } }),
    ),
  'resume pipeline': (scene) => ofPipeline(scene, ({ id }) => scene.say({ kind: 'resume-pipeline', command: { id } })),
  acknowledge: ({ host, say }) =>
    [...host.state.pipelines.keys(), ...host.state.agents.keys()].some((id) =>
      say({ kind: 'acknowledge-run', command: { id } }),
    ),
} satisfies Acts;

/** About an agent whose run is not over. */
function ofAgent({ host, n }: Scene, then: (agent: AgentRun) => boolean): boolean {
  const open = [...host.state.agents.values()].filter(({ outcome }) => outcome === null);
  const agent = pick(open, n);
  return agent !== undefined && then(agent);
}

function ofPipeline({ host, n }: Scene, then: (run: PipelineRun) => boolean): boolean {
  const run = pick([...host.state.pipelines.values()], n);
  return run !== undefined && then(run);
}
