import type { PlanEntry } from './plan.ts';
import type { ScriptStep } from './steps.ts';
import type { ToolCall } from './tools.ts';

export type Used = Extract<ScriptStep, { do: 'use' }>['with'];
export type ApiError = Extract<ScriptStep, { do: 'error' }>['with'];

/** After a step: the next step, the next message, or nothing follows. */
export type StepOutcome = 'continues' | 'turn over' | 'the end';

/** The result of an attempt to stop. Its text becomes part of the conversation. */
export type StopOutcome =
  /** The turn continues. */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** The turn ended, and another began with this message. */
  | { readonly kind: 'prompted'; readonly message: string }
  | { readonly kind: 'turn over' }
  | { readonly kind: 'the end' };

/** The protocol in which a scripted agent talks to the program that started it. The player decides what happens next. */
export interface Face {
  begin(): void;
  say(text: string): void;
  use(used: Used): void;
  plan(entries: readonly PlanEntry[]): void;
  enterMode(mode: string): void;
  useTool(tool: ToolCall): Promise<StepOutcome>;
  /** Asks for permission. Without an answer of its own (`by message`), the next message is the answer. */
  ask(question: string): Promise<StepOutcome | 'by message'>;
  stop(lastWords: string): Promise<StopOutcome>;
  /** Ends the turn with an error of the model's API. */
  fail(error: ApiError): Promise<void>;
  /** Plays a step of a broken agent. Returns undefined if the step is none of these. */
  misbehave(step: ScriptStep): Promise<StepOutcome | undefined>;
  /** Waits for the next message. Returns undefined if none will follow. */
  receive(): Promise<string | undefined>;
  /** Called before each step: the turn may have been cancelled. */
  checkTurn(): Promise<StepOutcome>;
}
