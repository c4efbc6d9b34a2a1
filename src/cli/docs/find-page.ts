import { meantSuffix } from '../../protocol/shape/problem.ts';

type FoundPage = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly message: string };

/**
 * Finds the page of the site that a user names, such as `guides/ci`, `docs/guides/ci.md` or `guides/ci#heading`. The
 * folder is needed only if a page outside of that folder has the same name.
 */
export function findPage(named: string, paths: Iterable<string>): FoundPage {
  const [name = '', ...anchor] = named.split('#');
  const wanted = name.replace(/^docs\//, '').replace(/\.(?:md|html)$/, '');
  const pages = [...paths].filter((path) => path.endsWith('.html')).map((path) => path.slice(0, -'.html'.length));
  const inFolders = pages.filter((page) => page.endsWith(`/${wanted}`));
  const found = pages.includes(wanted) || inFolders.length !== 1 ? wanted : inFolders[0];
  if (found !== undefined && pages.includes(found)) return { ok: true, path: [`${found}.html`, ...anchor].join('#') };
  return { ok: false, message: `the documentation has no page ${named}${meantSuffix(wanted, pages)}` };
}
