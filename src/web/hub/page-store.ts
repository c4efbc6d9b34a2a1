/**
 * The data that the browser stores for this origin: the page's key, which scripts cannot read, and the verification's
 * progress. Not in cookies, because a browser sends those to every port of a host.
 */
const DATABASE = 'baton';
const STORE = 'kept';

export interface PageKey {
  readonly id: string;
  readonly name: string;
  readonly privateKey: CryptoKey;
  /** The raw public key of the daemon that accepted this key; base64url. */
  readonly daemonKey: string;
}

export async function readKept<T>(name: string): Promise<T | undefined> {
  return request<T | undefined>('readonly', (store) => store.get(name));
}

export async function writeKept(name: string, value: unknown): Promise<void> {
  await request('readwrite', (store) => store.put(value, name));
}

export async function removeKept(name: string): Promise<void> {
  await request('readwrite', (store) => store.delete(name));
}

async function request<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest): Promise<T> {
  const database = await open();
  try {
    return await settle<T>(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

async function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(STORE));
  return settle<IDBDatabase>(opening);
}

async function settle<T>(given: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    given.addEventListener('success', () => resolve(given.result as T)); // oxlint-disable-line typescript/no-unsafe-type-assertion
    given.addEventListener('error', () => reject(given.error ?? new Error('IndexedDB failed')));
  });
}
