import { createServer } from 'node:http';
import { listLiving } from '../../api/processes.ts';
import { opened, runInside } from './network.cases.ts';

/**
 * The part of `full.int.test.ts` that runs in a separate host: a network namespace with an address, cloud metadata and
 * "the internet" (198.51.100.7). Prints what a session with the policy `full` reached, and its processes; then waits
 * until it is ended.
 */
const PORT = 7777;
const ADDRESSES = ['198.51.100.7', '127.0.0.1', '192.0.2.2', '169.254.169.254', '10.0.2.2'];

createServer((_, response) => response.end('reached')).listen(PORT, '::');
const network = await opened({ policy: 'full' }, { onRequest: (_, response) => void response.end('supervisor') });
// `--interface` binds the socket to the device, which makes the kernel ignore unreachable routes.
const inside = (await runInside(
  network,
  `const { execFile } = require('node:child_process');
   const curl = (address, ...more) => new Promise((resolve) => execFile('curl', ['-s', '--max-time', '1', ...more,
     'http://' + address + ':${PORT}/'], (error, text) => resolve(text)));
   const reached = async (...more) => {
     const texts = await Promise.all(${JSON.stringify(ADDRESSES)}.map(async (address) => [address, await curl(address, ...more)]));
     return texts.filter(([, text]) => text === 'reached').map(([address]) => address);
   };
   Promise.all([get(process.env.BATON_URL), reached(), reached('--interface', 'tap0')])
     .then(([supervisor, plain, bound]) => print({ supervisor, plain, bound }))`,
)) as object;
const children = listLiving().filter(({ parent }) => parent === process.pid);
const { summary, notes, resolvConf } = network;
const report = { ...inside, summary, notes, resolvConf, children: children.map(({ pid }) => pid) };
process.stdout.write(`${JSON.stringify(report)}\n`);
process.stdin.resume();
process.stdin.once('end', () => void network.close().then(() => process.exit(0)));
