import { request } from 'node:http';

/**
 * The stop hook of clients that have only command hooks: what it gets goes to the door, what the door says goes to the client. It knows the
 * door from its environment, as Baton's own does.
 */
const url = `${process.env['BATON_URL']}/hook/stop`;
const headers = { authorization: `Bearer ${process.env['BATON_TOKEN']}` };
process.stdin.pipe(request(url, { method: 'POST', headers }, (response) => response.pipe(process.stdout)));
