import { render } from 'preact';
import { startHub } from './hub-client.ts';
import { Shell } from './shell.tsx';

startHub();
const root = document.getElementById('app');
if (root !== null) render(<Shell />, root);
