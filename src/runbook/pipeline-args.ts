import type { PipelinePlan } from '../protocol/run-plan.ts';
import type { CommandArgs } from './command-args.ts';

/** A pipeline that is run by its own name takes its variables as options. */
export function pipelineArgs({ vars }: Pick<PipelinePlan, 'vars'>): CommandArgs {
  const options = Object.entries(vars).map(([name, value]) => ({ name, value: name, required: value === null }));
  const text = options.map(({ name, required }) => (required ? `--${name} <${name}>` : `[--${name} <${name}>]`));
  return { text: text.join(' '), positionals: [], options };
}
