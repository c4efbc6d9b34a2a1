import { FORMAT_NAMES, type FormatName } from '../../exchange/format.ts';
import { didYouMean } from '../../protocol/shape/suggest.ts';

/** `--from` or `--to`, as one of the formats; a text is an error of usage. */
export function formatOption(
  name: string,
  value: string | undefined,
): { readonly format: FormatName | undefined } | { readonly usage: string } {
  const format = FORMAT_NAMES.find((each) => each === value);
  if (value === undefined || format !== undefined) return { format };
  const meant = didYouMean(value, FORMAT_NAMES);
  return {
    usage: `--${name} must be one of ${FORMAT_NAMES.join(', ')}, not ${value}${meant === undefined ? '' : `. ${meant}`}`,
  };
}

export const TAG_OPTION = {
  name: 'tag',
  value: 'NAME',
  about: 'task-master: the list to take; left out: master',
} as const;
