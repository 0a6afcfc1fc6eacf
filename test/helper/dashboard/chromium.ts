import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { t } from 'tap';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Paths of supported browsers on macOS. */
const MAC_PROGRAMS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Each new window loads a page for the address field's suggestions, though nobody types there. That takes 0.7 s of the
 * 1.6 s of processor time per dashboard. Chromium obeys only the last such switch, so this repeats the features in
 * Playwright's own switch that matter without a window.
 */
const WITHOUT_FEATURES = `--disable-features=${[
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]}`;

const LAUNCH_WITHIN_MS = 180_000;

/** One per test process, started on first use. */
let browser: Promise<Browser> | undefined;

/**
 * A new context in the system's Chromium, which has no window and starts on first use. Rejects if none is installed.
 */
export async function newContext(options: BrowserContextOptions): Promise<BrowserContext> {
  browser ??= launch();
  const context = await (await browser).newContext(options);
  // For events that never happen. With several browsers on one machine, a single step may take Playwright's default of
  // 30 s.
  context.setDefaultTimeout(Number(process.env.STEP_TIMEOUT_MS ?? 120_000));
  return context;
}

async function launch(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) {
    throw new Error('This needs Chromium: install it (apt-get install chromium, brew install chromium).');
  }
  // Chromium's sandbox doesn't work as root or in containers. It loads only our own page here.
  const options = { executablePath, chromiumSandbox: false, args: [WITHOUT_FEATURES] };
  return await chromium.launch({ ...options, timeout: LAUNCH_WITHIN_MS });
}

function chromiumProgram(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const programs = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...programs, ...MAC_PROGRAMS].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

t.teardown(async () => (await browser)?.close());
