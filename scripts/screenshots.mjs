// make screenshots: takes the pictures of the documents again. A real server over a fresh store, a scene of real processes
// (page-scene.mjs), every view light and dark; then a night in which a holder hangs, step by step, as docs/guide/at-night.md tells it.
// ONLY=views or ONLY=night takes one half. Writes docs/pictures/*.png.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launchChromium } from './chromium.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pictures = join(root, 'docs', 'pictures');
const SIZE = { width: 1_200, height: 760 };
const PHONE = { width: 390, height: 780 };
/** A repository keeps every picture for ever. */
const MOST_BYTES = 150_000;
const PATIENCE_MS = 180_000;
/** How long the scene runs before its pictures are taken: the plots want something to draw. */
const WARM_MS = 90_000;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
const children = [];

function start(words) {
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let text = '';
  const says = async (pattern) => {
    while (!pattern.test(text)) {
      const [more] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [undefined])]);
      if (more === undefined) throw new Error(`${words.join(' ')} ended without ${pattern}: ${text}`);
      text += more;
    }
    return pattern.exec(text)[0];
  };
  return { child, says };
}

async function serve(name) {
  const store = `sqlite:${join(folder, name)}.db`;
  const server = start(['dist/cli/main.js', '--store', store, 'serve', '--port', '0', '--log', 'error']);
  const url = await server.says(/http:\/\/127\.0\.0\.1:\d+/);
  while (!(await fetch(`${url}/readyz`)).ok) await delay(50);
  return { store, url };
}

async function take(page, name) {
  const path = join(pictures, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  console.error(`... ${name}.png, ${Math.round(size / 1_024)} KiB`);
  if (size > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES} bytes: show less in it`);
}

/** Live, and nothing on it is still being read. */
async function settled(page) {
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  for (const text of ['Loading…', 'Looking…']) await page.getByText(text).first().waitFor({ state: 'hidden' });
}

const VIEWS = [
  ['now', '/now', 'orders/0'],
  ['tree', '/now?as=tree&status=all', 'worker-7'],
  ['resource', '/resource?name=orders/0', 'worker-4'],
  ['sequences', '/sequences', 'orders/log'],
  ['stream', '/sequences?stream=orders/log', 'Waiting for a person'],
  ['health', '/health', 'What the doctor found'],
  ['history', '/history?resource=orders/0', 'worker-4'],
  ['settings', '/settings', 'held_ttl_seconds'],
  ['tokens', '/tokens', 'Tokens'],
];

async function startScene() {
  const { url } = await serve('views');
  await start(['scripts/page-scene.mjs', url, 'busy']).says(/ready/);
  return url;
}

async function takeViews(browser, url) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [name, path, text] of VIEWS) {
      const page = await browser.newPage({ viewport: SIZE, colorScheme });
      page.setDefaultTimeout(30_000);
      await page.goto(url + path);
      await page.getByText(text).first().waitFor();
      await settled(page);
      if (name === 'health') await page.locator('canvas').nth(5).waitFor();
      await take(page, `${name}-${colorScheme}`);
      await page.close();
    }
  }
  const phone = await browser.newPage({ viewport: PHONE, colorScheme: 'light', isMobile: true, hasTouch: true });
  await phone.goto(`${url}/now`);
  await settled(phone);
  await phone.getByText('orders/0').first().waitFor();
  await take(phone, 'phone');
  await phone.close();
}

const JOB = 'reports/daily';

/** A holder hangs with a lease of three minutes; the machine it was on had more, which ran out. */
async function takeNight(browser) {
  const { store, url } = await serve('night');
  const post = async (path, body) => {
    const answer = await fetch(url + path, {
      method: path === '/v1/config' ? 'PATCH' : 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'dark' });
  page.setDefaultTimeout(PATIENCE_MS);
  // Jobs of this team take seconds: a minute is too long.
  await post('/v1/config', { max_lock_age_seconds: 60, cleanup_interval_seconds: 5 });
  await page.goto(`${url}/health`);
  await settled(page);
  for (let n = 0; n < 8; n += 1) {
    const { id, epoch } = await post('/v1/leases', { resource: `mail/${n}`, owner: `mailer-${n}`, ttl: '1m' });
    await post(`/v1/leases/${id}/release`, { epoch });
  }
  const words = (owner, ...rest) => ['dist/cli/main.js', '--store', store, '--owner', owner, 'run', ...rest];
  const job = ['--', 'sleep', '600'];
  const hung = start(words('cron-web1', JOB, '--ttl', '3m', ...job));
  await page.goto(`${url}/now`);
  await page.getByText('cron-web1').first().waitFor();
  hung.child.kill('SIGSTOP');
  for (const n of [1, 2, 3]) await post('/v1/leases', { resource: `uploads/${n}`, owner: 'cron-web1', ttl: '8s' });
  start(words('cron-web2', JOB, '--ttl', '30s', '--wait', '10m', ...job));
  await page.getByText('1 waiting').first().waitFor();
  start(words('mail-digest', JOB, '--ttl', '30s', '--wait', '10m', ...job));
  start(words('ci-7', 'deploy', '--ttl', '30s', ...job));
  await page.getByText('2 waiting').first().waitFor();

  await page.goto(`${url}/health`);
  await page.getByText('expiration-rate').and(page.locator(':visible')).first().waitFor();
  await page.getByText(/\d firing/).waitFor();
  await take(page, 'night-1-alert');
  await page.goto(`${url}/now`);
  await settled(page);
  await page.getByText('ci-7').first().waitFor();
  await take(page, 'night-2-now');
  await page.getByRole('link', { name: JOB }).first().click();
  await page
    .getByText(/overdue/)
    .first()
    .waitFor();
  await take(page, 'night-3-resource');
  await page.goto(`${url}/health`);
  const finding = page.getByText(/held for longer than .*1 of them silent/).first();
  while (!(await finding.isVisible())) {
    await page.getByRole('button', { name: 'Look again' }).click();
    await delay(1_000);
  }
  await finding.scrollIntoViewIfNeeded();
  await take(page, 'night-4-doctor');
  await page.goto(`${url}/resource?name=${encodeURIComponent(JOB)}`);
  await page
    .getByRole('button', { name: /^Revoke/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Reason/).fill('web1 hangs, asked in the channel');
  await dialog
    .getByText(/overdue/)
    .first()
    .waitFor();
  await take(page, 'night-5-revoke');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Close' }).waitFor();
  await dialog.getByText('cron-web2').first().waitFor();
  await take(page, 'night-6-done');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: `Revoke ${JOB} from cron-web2` }).waitFor();
  await page.getByText('revoked', { exact: true }).first().waitFor();
  await take(page, 'night-7-takeover');
  await page.goto(`${url}/history?resource=${encodeURIComponent(JOB)}`);
  await page.getByText('revoked', { exact: true }).first().waitFor();
  await take(page, 'night-8-history');
  await page.close();
}

const browser = await launchChromium();
try {
  mkdirSync(pictures, { recursive: true });
  const only = process.env.ONLY;
  const url = only === 'night' ? undefined : await startScene();
  const begun = performance.now();
  if (only !== 'views') await takeNight(browser);
  if (url !== undefined) {
    await delay(Math.max(0, begun + WARM_MS - performance.now()));
    await takeViews(browser, url);
  }
} finally {
  await browser.close();
  // A frozen process obeys nothing else; the command of a run dies with the one that runs it.
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
