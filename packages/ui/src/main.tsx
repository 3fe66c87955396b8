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
import { askEarly } from './ask-early.ts';

/** The shell stands that long for the sake of a page that is drawn once; then there is one that says what it waits for. */
const patience = 1000;

async function start(host: Element): Promise<void> {
  const isLate = new Promise((resolve) => {
    setTimeout(resolve, patience);
  });
  await Promise.race([askEarly().catch(() => undefined), isLate]);
  createRoot(host).render(<App />);
}

const root = document.querySelector('#root');
if (root !== null) void start(root);
