import { type AgentReport, agentReportShape, EXIT_FIELDS, parseAgentReport } from '../../protocol/agent-report.ts';
import { agentSignalShape } from '../../protocol/agent-signal.ts';
import { missionShape } from '../../protocol/mission.ts';
import { PHASES } from '../../protocol/phase.ts';
import { standingShape } from '../../protocol/standing.ts';
import { choice, flag, nothing, nullable, object, optional, text } from '../../protocol/shape/build-shape.ts';
import { operation, type Operation } from './operation.ts';

const agentId = {
  kind: 'text',
  notEmpty: true,
  optional: true,
  about: 'The agent; the caller if left out.',
} as const;

export const callerGet = operation({
  name: 'caller_get',
  about: 'Who the caller is, and how its session stands. The MCP server lists tools by it.',
  access: ['worker', 'session', 'agent'],
  tool: false,
  input: nothing,
  result: object({
    kind: choice(['operator', 'worker', 'session', 'agent', 'supervisor', 'system']),
    session: nullable(
      object({
        task_id: text,
        phase: choice(PHASES),
        holds_claim: flag,
        started: { ...flag, about: 'Baton started it, with a mission and a workspace.' },
        exit_protocol: { ...flag, about: 'It ends with an exit signal.' },
        hands_off: { ...flag, about: 'Its role can send handoffs.' },
      }),
    ),
  }),
});

export const missionGet = operation({
  name: 'mission_get',
  about: 'Your mission: what you are asked to do, which files to read, and what you must not do.',
  access: ['session'],
  input: nothing,
  result: missionShape,
});

export const agentSignal = operation({
  name: 'agent_signal',
  about: 'Report on your run. Do not send complete if you have the tool exit_signal: that ends your phase.',
  access: ['session', 'agent', 'operator'],
  command: 'signal-agent',
  input: { ...agentSignalShape, fields: { ...agentSignalShape.fields, agent_id: agentId } },
  unlistedFields: ['agent_id'],
  result: object({
    kind: agentSignalShape.fields.kind,
    task_id: optional(text, 'With a session: its task, and how it stands now.'),
    phase: optional(choice(PHASES)),
    holds_claim: optional(flag),
  }),
});

/** The events of the command hook, for agents whose supervisor does not receive them. */
const stopEvent = {
  access: ['session', 'agent', 'supervisor', 'operator'],
  command: 'report-agent',
  tool: false,
  input: object({ agent_id: agentId }),
  result: object({ standing: nullable(standingShape) }),
} as const;

export const agentIdle = operation({
  ...stopEvent,
  name: 'agent_idle',
  about: 'The agent waits for input, or its stop hook is configured to count a stop as that.',
});

export const agentStop = operation({
  ...stopEvent,
  name: 'agent_stop',
  about: 'The agent tried to stop without a signal, and a person is to be asked.',
});

export const taskWorktree = operation({
  name: 'task_worktree',
  about:
    'Make a git worktree for the task that you have claimed, on a branch of its own, or get the one you have. Work, commit and push there. If you lose the claim, git refuses your commits and pushes there.',
  access: ['session'],
  kind: 'write',
  input: nothing,
  result: object({
    task_id: text,
    path: text,
    branch: text,
    is_new: flag,
    earlier_path: optional(text, 'The worktree of the claim before: what was not committed is there.'),
  }),
});

const SUPERVISORS = { access: ['supervisor'], kind: 'write', tool: false } as const;

const declared = operation({
  ...SUPERVISORS,
  command: 'report-agent',
  name: 'agent_report',
  about: 'What a supervisor reports about its agent: see `protocol/agent-report.ts`. A repeat counts once.',
  input: agentReportShape,
  result: object({ standing: nullable(standingShape) }),
});

type ReportResult = typeof declared extends Operation<string, unknown, infer R> ? R : never;

export const agentReport: Operation<'agent_report', AgentReport, ReportResult> = {
  ...declared,
  parse: parseAgentReport,
};

export const commandReport = operation({
  ...SUPERVISORS,
  command: 'finish-command',
  name: 'command_report',
  about: 'How a shell step or a gate ended. A repeat counts once.',
  input: object({ ...EXIT_FIELDS, start: { ...EXIT_FIELDS.start, optional: true } }),
  result: nullable(nothing),
});

export const agentStanding = operation({
  name: 'agent_standing',
  about: 'Whether the agent has signalled, whether anybody waits for it, and what it still owes.',
  access: ['supervisor', 'session', 'worker'],
  tool: false,
  input: object({
    agent_id: optional(text, "Only with a worker's token: which agent. Other callers ask about themselves."),
  }),
  result: nullable(standingShape),
});
