// Where the page begins: the look, the feed, the first drawing.
import { render } from 'preact';
import { App } from './app.js';
import { startFeed } from './state/feed.js';
import './ui/theme.css';
import './ui/layout.css';

startFeed();
const root = document.getElementById('page');
if (root) render(<App />, root);
