import './styles/layers.css';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import '@mantine/spotlight/styles.layer.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/lists.css';
import './styles/content.css';
import './styles/narrow.css';
import './styles/kit.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.querySelector('#root');
if (root !== null) createRoot(root).render(<App />);
