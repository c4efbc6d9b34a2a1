import type { PipelinePlan } from '../protocol/run-plan.ts';
import type { CommandArgs } from './command-args.ts';

/** A pipeline that is run by its own name takes its variables as options, those that must be given first. */
export function pipelineArgs({ vars }: Pick<PipelinePlan, 'vars'>): CommandArgs {
  const all = Object.entries(vars).map(([name, value]) => ({ name, value: name, required: value === null }));
  const options = [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)];
  const text = options.map(({ name, required }) => (required ? `--${name} <${name}>` : `[--${name} <${name}>]`));
  return { text: text.join(' '), positionals: [], options };
}
