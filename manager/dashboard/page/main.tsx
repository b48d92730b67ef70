import { render } from 'preact';
import { App } from './app.tsx';
import { begin } from './state.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no place for the dashboard');
begin();
render(<App />, root);
