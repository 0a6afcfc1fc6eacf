import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import '@mantine/charts/styles.css';
import '@mantine/spotlight/styles.css';
import { App } from './app.tsx';
import './style/theme.css';
import './style/base.css';
import './style/dialog.css';
import './style/layout.css';
import './style/controls.css';
import './style/content.css';
import './style/table.css';
import './style/chart.css';

const place = document.getElementById('page');
if (place) createRoot(place).render(<App />);
