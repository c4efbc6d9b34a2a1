import { setTimeout as pause } from 'node:timers/promises';
import type { ConversationFile } from './conversation.ts';
import type { ApiError, Face, StepOutcome } from './face.ts';
import { planEntries } from './plan.ts';
import type { Script } from './script.ts';
import type { ScriptStep } from './steps.ts';
import { findTool } from './tools.ts';

export interface PlayerOptions {
  readonly script: Script;
  readonly agentId: string;
  readonly face: Face;
  readonly conversation: ConversationFile;
  /** Whether the first turn starts with a message. */
  readonly isPrompted: boolean;
}

/** Plays turn after turn. A turn ends when the face lets the agent stop; the next one starts with a message. */
export class ScriptPlayer {
  readonly #options: PlayerOptions;
  #lastWords = '';
  #code = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  /** Resolves to the exit code. */
  async play(): Promise<number> {
    this.#options.face.begin();
    if (this.#options.isPrompted && !(await this.#receive())) return 0;
    for (;;) {
      if ((await this.#playTurn()) === 'the end' || !(await this.#receive())) return this.#code;
    }
  }

  /** Plays from the current step until the agent may stop. After the last step only `on_message` steps follow. */
  async #playTurn(): Promise<StepOutcome> {
    const { script, conversation, face } = this.#options;
    const { steps, onMessage } = script;
    if (conversation.now.position >= steps.length && conversation.now.messages.at(-1)?.from === 'user') {
      const after = await this.#playAll(onMessage);
      if (after !== 'continues') return after;
    }
    while (conversation.now.position < steps.length) {
      const before = await face.checkTurn();
      if (before !== 'continues') return before;
      const step = steps[conversation.now.position];
      conversation.begin(conversation.now.position + 1);
      // A `stop` at the end is the stop after the last step, so a later prompt is for `on_message`.
      if (step?.do === 'stop' && conversation.now.position === steps.length) break;
      const after = step === undefined ? 'continues' : await this.#do(step);
      if (after !== 'continues') return after;
    }
    return this.#stop(true);
  }

  async #playAll(steps: readonly ScriptStep[]): Promise<StepOutcome> {
    for (const step of steps) {
      const before = await this.#options.face.checkTurn();
      const after = before === 'continues' ? await this.#do(step) : before;
      if (after !== 'continues') return after;
    }
    return 'continues';
  }

  async #do(step: ScriptStep): Promise<StepOutcome> {
    const { face, agentId } = this.#options;
    const tool = findTool(step, agentId);
    if (tool !== undefined) return face.useTool(tool);
    const misbehaved = await face.misbehave(step);
    if (misbehaved !== undefined) return misbehaved;
    switch (step.do) {
      case 'say':
        return this.#say(step.with);
      case 'use':
        face.use(step.with);
        return 'continues';
      case 'plan':
        face.plan(planEntries(step.with));
        return 'continues';
      case 'mode':
        face.enterMode(step.with);
        return 'continues';
      case 'stop':
        return this.#stop(false);
      case 'wait':
        return this.#wait();
      case 'ask':
        return this.#ask(step.with);
      case 'error':
        return this.#fail(step.with);
      default:
        throw new Error(`a script cannot ${step.do}`);
    }
  }

  #say(text: string): StepOutcome {
    const { face, conversation } = this.#options;
    this.#lastWords = text;
    face.say(text);
    conversation.add('agent', text);
    return 'continues';
  }

  /**
   * If the stop is blocked, plays the `on_block` steps and tries again; without such steps, continues after the stop. A
   * face that cannot distinguish a block from a message reports both as prompts. Then `on_message` steps follow if
   * there are no `on_block` steps.
   */
  async #stop(isLast: boolean): Promise<StepOutcome> {
    const { face, script, conversation } = this.#options;
    for (;;) {
      const asked = await face.stop(this.#lastWords);
      if (asked.kind === 'turn over' || asked.kind === 'the end') return asked.kind;
      if (asked.kind === 'prompted') this.#begin(asked.message);
      else conversation.add('user', `Stop hook feedback:\n${asked.reason}`);
      if (script.onBlock === undefined && !isLast) return 'continues';
      // A model takes time too, even to repeat itself.
      if (script.onBlock === undefined) await pause(20);
      const answer = script.onBlock ?? (asked.kind === 'prompted' ? script.onMessage : []);
      const after = await this.#playAll(answer);
      if (after !== 'continues') return after;
    }
  }

  async #ask(question: string): Promise<StepOutcome> {
    const answered = await this.#options.face.ask(question);
    return answered === 'by message' ? this.#wait() : answered;
  }

  async #wait(): Promise<StepOutcome> {
    return (await this.#receive()) ? 'continues' : 'the end';
  }

  async #fail(error: ApiError): Promise<StepOutcome> {
    await this.#options.face.fail(error);
    this.#code = 1;
    return 'turn over';
  }

  /** Returns false if no message will follow. */
  async #receive(): Promise<boolean> {
    const message = await this.#options.face.receive();
    if (message !== undefined) this.#begin(message);
    return message !== undefined;
  }

  #begin(message: string): void {
    this.#options.conversation.add('user', message);
    this.#code = 0;
  }
}
