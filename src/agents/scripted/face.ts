import type { PlanEntry } from './plan.ts';
import type { ScriptStep } from './steps.ts';
import type { ToolCall } from './tools.ts';

export type Used = Extract<ScriptStep, { do: 'use' }>['with'];
export type ApiError = Extract<ScriptStep, { do: 'error' }>['with'];

/** What follows a step: the next step, the next message, or nothing. */
export type StepOutcome = 'continues' | 'turn over' | 'the end';

/** The outcome of an attempt to stop. Its text becomes part of the conversation. */
export type StopOutcome =
  /** The turn continues. */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** The turn ended, and this message started another. */
  | { readonly kind: 'prompted'; readonly message: string }
  | { readonly kind: 'turn over' }
  | { readonly kind: 'the end' };

/** The protocol between a scripted agent and the program that started it. The player decides what happens next. */
export interface Face {
  begin(): void;
  say(text: string): void;
  use(used: Used): void;
  plan(entries: readonly PlanEntry[]): void;
  enterMode(mode: string): void;
  useTool(tool: ToolCall): Promise<StepOutcome>;
  /** Asks for permission. `by message`: the protocol has no answer of its own, so the next message is the answer. */
  ask(question: string): Promise<StepOutcome | 'by message'>;
  stop(lastWords: string): Promise<StopOutcome>;
  /** Ends the turn with an error of the model's API. */
  fail(error: ApiError): Promise<void>;
  /** Plays a step of a broken agent. Returns undefined if it is not such a step. */
  misbehave(step: ScriptStep): Promise<StepOutcome | undefined>;
  /** Waits for the next message. Returns undefined if none will follow. */
  receive(): Promise<string | undefined>;
  /** Called before each step, because the turn may have been cancelled. */
  checkTurn(): Promise<StepOutcome>;
}
