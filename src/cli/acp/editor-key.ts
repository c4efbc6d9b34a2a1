import { createClient } from '../../api/client/connect.ts';
import { SignedClient } from '../../api/client/signed-client.ts';
import { toRpcError } from './rpc-errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Creates the key of this process, as `baton web` creates that of a page. Starts the daemon if none runs. */
export async function openKey(editor: string, env: Environment): Promise<SignedClient> {
  const operator = createClient({ env });
  const page = await operator.call('page_open', { editor });
  operator.close();
  if (!page.ok) throw toRpcError(page.error);
  const opened = await SignedClient.open(page.result.url);
  if (!opened.ok) throw toRpcError(opened.error);
  return opened.client;
}

/** A prompt starts the daemon like any command. Following a run does not. */
export async function reachDaemon(env: Environment): Promise<void> {
  const client = createClient({ env });
  const error = await client.reach();
  client.close();
  if (error !== undefined) throw toRpcError(error);
}

/** Turns `Zed Preview` into `zed-preview`. */
export function editorNameOf(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['editor'];
  return words.join('-').slice(0, NAME_CHARACTERS).replace(/-+$/, '');
}

const NAME_CHARACTERS = 24;
