import type { Machine } from './machine.ts';
import { cover, linksTo, realPathOf, showPath } from './place.ts';
import type { Rule } from './rules.ts';
import { SYSTEM_TABLE } from './system-table.ts';

/** The rules for the machine outside HOME. */
export function systemRules(machine: Machine): Rule[] {
  const rows = SYSTEM_TABLE.filter(({ isForRoot }) => isForRoot !== true || machine.uid === 0);
  const treated = rows.flatMap(({ paths, treatment }) => paths.flatMap((path) => rulesOf(machine, path, treatment)));
  const ofRoot = machine.privatePaths.flatMap((path) => rulesOf(machine, path, 'empty'));
  return [...topLevel(machine), ...treated, ...nameService(machine), ...ofRoot];
}

function topLevel(machine: Machine): Rule[] {
  const absent = new Set(SYSTEM_TABLE.flatMap(({ treatment, paths }) => (treatment === 'absent' ? paths : [])));
  return machine.list('/').flatMap((name) => {
    const path = `/${name}`;
    const fact = machine.find(path);
    if (fact === undefined) return [];
    if (fact.real !== path) return linksTo(machine, path, 'system');
    const isHidden = absent.has(path) || (machine.uid === 0 && fact.isPrivate);
    // If HOME is `/`, these are the user's settings.
    const isSetting = machine.home === '/' && name.startsWith('.');
    return isHidden || isSetting || fact.kind === 'other' ? [] : showPath(machine, path, 'read', 'system');
  });
}

function rulesOf(machine: Machine, path: string, treatment: (typeof SYSTEM_TABLE)[number]['treatment']): Rule[] {
  const fact = machine.find(path);
  switch (treatment) {
    case 'absent':
      return [];
    case 'read':
      return showPath(machine, path, 'read', 'system');
    case 'scratch':
      return path === '/run' || fact?.kind === 'folder'
        ? [{ rank: 'system', mount: { kind: 'scratch', at: fact?.real ?? path } }]
        : [];
    case 'empty':
      return fact === undefined ? [] : [{ rank: 'system', mount: cover(fact) }];
  }
}

/** The file with the nameservers' addresses is often in a folder with sockets. Only the file becomes visible. */
function nameService(machine: Machine): Rule[] {
  const path = realPathOf(machine, '/etc/resolv.conf');
  return machine.find(path)?.kind === 'file' ? [{ rank: 'system', mount: { kind: 'read', at: path, from: path } }] : [];
}
