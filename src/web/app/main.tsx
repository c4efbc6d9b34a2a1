import { render } from 'preact';
import { startHub } from './hub-client.ts';
import { listenForKeys } from './keyboard.ts';
import { Shell } from './shell.tsx';

startHub();
listenForKeys();
const root = document.getElementById('app');
if (root !== null) render(<Shell />, root);
