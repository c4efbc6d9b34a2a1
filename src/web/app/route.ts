/**
 * Every view and detail has an address: `#/PROJECT/VIEW/ID/PART?name=value`. The part after the # never leaves the
 * browser. `baton web` opens `#code=…&daemon=…&project=PATH` instead, which is removed from the address at once.
 */
export interface Route {
  readonly project?: string;
  readonly view: ViewName;
  readonly id?: string;
  readonly part?: string;
  readonly query: Readonly<Record<string, string>>;
}

const VIEW_NAMES = ['inbox', 'work', 'tasks', 'fleet', 'ledger', 'session'] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const [, project, view, id, part] = path.split('/').map(decode);
  const query = Object.fromEntries(new URLSearchParams(search));
  return {
    ...(project === undefined || project === '' ? {} : { project }),
    view: VIEW_NAMES.find((name) => name === view) ?? 'inbox',
    ...(id === undefined || id === '' ? {} : { id }),
    ...(part === undefined || part === '' ? {} : { part }),
    query,
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function renderRoute({ project, view, id, part, query }: Route): string {
  const parts = [project ?? '', view, ...(id === undefined ? [] : [id]), ...(part === undefined ? [] : [part])];
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}
