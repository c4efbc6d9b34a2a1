/** The filter of the list, which is part of the address. */
export interface Filter {
  readonly type: string;
  readonly task: string;
  readonly actor: string;
  readonly text: string;
}

export const FILTER_FIELDS = ['type', 'task', 'actor', 'text'] as const;

export function parseFilter(query: Readonly<Record<string, string>>): Filter {
  const of = (name: (typeof FILTER_FIELDS)[number]): string => (query[name] ?? '').trim();
  return { type: of('type'), task: of('task'), actor: of('actor'), text: of('text') };
}

export function isFiltered(filter: Filter): boolean {
  return FILTER_FIELDS.some((name) => filter[name] !== '');
}

/** The input of `entries_read`. Several types are separated by commas or spaces. */
export interface FilterInput {
  readonly types?: readonly string[];
  readonly task_id?: string;
  readonly actor?: string;
  readonly text?: string;
}

export function toFilterInput({ type, task, actor, text }: Filter): FilterInput {
  const types = type.split(/[\s,]+/).filter((each) => each !== '');
  return {
    ...(types.length === 0 ? {} : { types }),
    ...(task === '' ? {} : { task_id: task }),
    ...(actor === '' ? {} : { actor }),
    ...(text === '' ? {} : { text }),
  };
}
