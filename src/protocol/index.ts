/**
 * The package `batonctl/protocol`: every message that agents, people and Baton exchange. Pure, and safe in a browser.
 */
export type { AgentSessionCompleted, CompletionFacts } from './agent-session-completed.ts';
export { createAgentSessionCompleted } from './agent-session-completed.ts';
export type { AgentSignal } from './agent-signal.ts';
export { agentSignalSchema, parseAgentSignal, renderAgentSignal, validateAgentSignal } from './agent-signal.ts';
export type { ExitSignalBuilder } from './exit-signal/exit-signal-shape.ts';
export { createExitSignal } from './exit-signal/exit-signal-shape.ts';
export type { EvidenceBundle } from './evidence.ts';
export { evidenceBundleSchema, parseEvidenceBundle, renderEvidenceBundle, validateEvidenceBundle } from './evidence.ts';
export { exitProtocolEnabled, parseExitSignalIfEnabled } from './exit-signal/exit-signal.ts';
export type { ExitSignal } from './exit-signal/exit-signal-shape.ts';
export { exitSignalSchema } from './exit-signal/exit-signal-shape.ts';
export { parseExitSignal, renderExitSignal, validateExitSignal } from './exit-signal/exit-signal.ts';
export type { FoundSignal, SignalFinder } from './exit-signal/find-signals.ts';
export { createSignalFinder, findSignal } from './exit-signal/find-signals.ts';
export type { ClosingSignal } from './exit-signal/find-signals.ts';
export { findClosingSignal } from './exit-signal/find-signals.ts';
export * from './handoff/index.ts';
export type { JsonSchema } from './shape/shape.ts';
export { PROTOCOL_LIMITS } from './limits.ts';
export type { Mission } from './mission.ts';
export { missionSchema, parseMission, renderMission, validateMission } from './mission.ts';
export type { ExitReason, Phase } from './phase.ts';
export { EXIT_REASONS, nextPhase, PHASES } from './phase.ts';
export type { Parsed, Problem, Refused } from './shape/problem.ts';
export type { Result } from './result.ts';
export { parseResult, renderResult, resultSchema, validateResult } from './result.ts';
export type { StopHookBlock, StopHookInput, StopHookOutput } from './stop-hook.ts';
export {
  isStopHookActive,
  parseStopHookInput,
  parseStopHookOutput,
  renderStopHookInput,
  renderStopHookOutput,
  stopHookInputSchema,
  stopHookOutputSchema,
} from './stop-hook.ts';
export type { TaskUpdate } from './task-update.ts';
export { parseTaskUpdate, renderTaskUpdate, taskUpdateSchema, validateTaskUpdate } from './task-update.ts';
export type { ThoughtRecord } from './thought-record.ts';
export {
  parseThoughtRecord,
  renderThoughtRecord,
  thoughtRecordSchema,
  validateThoughtRecord,
} from './thought-record.ts';
