import './styles/layers.css';
import './styles/components.ts';
import './styles/base.css';
import './styles/shell.css';
import './styles/lists.css';
import './styles/content.css';
import './styles/narrow.css';
import './styles/kit.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { askEarly } from './lib/ask-early.ts';

askEarly(globalThis.location.pathname);
const root = document.querySelector('#root');
if (root !== null) createRoot(root).render(<App />);
