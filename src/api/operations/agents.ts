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
  about: 'Show the kind of the caller, and the state of its session. The MCP server lists tools by it.',
  access: ['worker', 'session', 'agent'],
  tool: false,
  input: nothing,
  result: object({
    kind: choice(['operator', 'worker', 'session', 'agent', 'supervisor', 'system']),
    session: {
      ...nullable(
        object({
          task_id: text,
          phase: choice(PHASES),
          holds_claim: flag,
          started: { ...flag, about: 'Baton started the session, with a mission and a workspace.' },
          exit_protocol: { ...flag, about: 'The session ends with an exit signal.' },
          hands_off: { ...flag, about: 'The role of the session can send handoffs.' },
          judges: { ...flag, about: 'The session judges the work of others.' },
        }),
      ),
      about: 'The session of the caller; null without one.',
    },
  }),
});

export const missionGet = operation({
  name: 'mission_get',
  about: 'Get your mission: your task, the files to read, and your constraints.',
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
    task_id: optional(text, 'For a caller with a session: its task.'),
    phase: optional(choice(PHASES), 'The phase of the task after the signal.'),
    holds_claim: optional(flag, 'The session still holds its claim.'),
  }),
});

/** The events of the command hook, for agents whose supervisor does not receive them. */
const stopEvent = {
  access: ['session', 'agent', 'supervisor', 'operator'],
  command: 'report-agent',
  tool: false,
  input: object({ agent_id: agentId }),
  result: object({
    standing: {
      ...nullable(standingShape),
      about: 'What the agent still owes, and whether it may stop.',
    },
  }),
} as const;

export const agentIdle = operation({
  ...stopEvent,
  name: 'agent_idle',
  about: 'Report that the agent waits for input, or that it stopped and `on_stop` is `idle`.',
});

export const agentStop = operation({
  ...stopEvent,
  name: 'agent_stop',
  about: 'Report that the agent tried to stop without a signal, so that Baton asks a person.',
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
    is_new: { ...flag, about: 'False if the claim had this worktree already.' },
    earlier_path: optional(text, 'The worktree of the previous claim, with its uncommitted files.'),
  }),
});

const SUPERVISORS = { access: ['supervisor'], kind: 'write', tool: false } as const;

const declared = operation({
  ...SUPERVISORS,
  command: 'report-agent',
  name: 'agent_report',
  about:
    'Report an event of an agent, from its supervisor. `src/protocol/agent-report.ts` has the fields of each kind. A repeat counts once.',
  input: agentReportShape,
  result: object({
    standing: {
      ...nullable(standingShape),
      about: 'What the agent still owes, and whether it may stop.',
    },
  }),
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
  about: 'Report the end of a shell step or a gate. A repeat counts once.',
  input: object({ ...EXIT_FIELDS, start: { ...EXIT_FIELDS.start, optional: true } }),
  result: nullable(nothing),
});

export const agentStanding = operation({
  name: 'agent_standing',
  about: 'Show whether the agent has signalled, whether a step or run waits for it, and what it still owes.',
  access: ['supervisor', 'session', 'worker'],
  tool: false,
  input: object({
    agent_id: optional(text, "Only with a worker's token: the agent. Other callers ask about themselves."),
  }),
  result: nullable(standingShape),
});
