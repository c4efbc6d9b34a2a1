import { computed, effect, signal } from '@preact/signals';

/**
 * Everything has an address: `#/PROJECT/VIEW/ID/PART?name=value`. The part after the # never leaves the browser. `baton web` opens
 * `#code=…&daemon=…&project=PATH` instead, which is taken away at once.
 */
export interface Route {
  readonly project?: string;
  readonly view: ViewName;
  readonly id?: string;
  readonly part?: string;
  readonly query: Readonly<Record<string, string>>;
}

export const VIEW_NAMES = ['inbox', 'work', 'tasks', 'fleet', 'ledger', 'session'] as const;
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

export const route = signal<Route>(parseRoute(location.hash));
export const project = computed(() => route.value.project);

/** The path in the address that `baton web` opened, until the id of the project is known. */
export const wantedPath = signal<string | undefined>(undefined);

addEventListener('hashchange', () => {
  if (!isOpening(location.hash)) route.value = parseRoute(location.hash);
});

/** The address of something in this project. */
export function hrefTo(to: Partial<Route> & { readonly view: ViewName }): string {
  const own = route.value.project;
  return renderRoute({ ...(own === undefined ? {} : { project: own }), query: {}, ...to });
}

export function go(to: Partial<Route> & { readonly view: ViewName }): void {
  location.hash = hrefTo(to);
}

/** Changes the query of the address without a new entry in the browser's history. */
export function setQuery(query: Readonly<Record<string, string>>): void {
  const next = { ...route.peek(), query };
  history.replaceState(null, '', renderRoute(next));
  route.value = next;
}

function isOpening(hash: string): boolean {
  return /^#(?:code|daemon|project)=/.test(hash);
}

/** Takes the one-time code out of the address, so that nobody sees or copies it. */
export function takeCode(): { readonly code?: string; readonly daemonKey?: string } {
  if (!isOpening(location.hash)) return {};
  const given = new URLSearchParams(location.hash.slice(1));
  const [code, daemonKey, path] = [given.get('code'), given.get('daemon'), given.get('project')];
  history.replaceState(null, '', '#/');
  route.value = parseRoute('#/');
  wantedPath.value = path ?? undefined;
  return { ...(code === null ? {} : { code }), ...(daemonKey === null ? {} : { daemonKey }) };
}

/** Remembers the project for the next time. */
effect(() => {
  const id = project.value;
  if (id !== undefined) localStorage.setItem('project', id);
});
