import { parseRemoteHost } from '../../git/remote/remote-host.ts';
import { gitLines } from '../../git/run-git.ts';
import type { EffectContext } from '../context.ts';

/**
 * The hosts of the git remotes of the main checkout, for the network `dev`. No session can write its configuration.
 * Empty if git does not answer.
 */
export async function readRemoteHosts({ path }: Pick<EffectContext, 'path'>): Promise<readonly string[]> {
  const found = await gitLines(['config', '--get-regexp', String.raw`^remote\..*\.url$`], { cwd: path });
  const urls = found.ok ? found.value.map((line) => line.slice(line.indexOf(' ') + 1)) : [];
  return [...new Set(urls.flatMap((url) => parseRemoteHost(url) ?? []))];
}
