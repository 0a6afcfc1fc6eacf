import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { t } from 'tap';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Paths of the browsers that will do, where macOS installs applications. */
const MAC_PROGRAMS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The address field's list of suggestions is a page of its own, which each new window loads though nobody types there:
 * 0.7 s of processor time for each dashboard that a test opens, of 1.6 s. Chromium obeys only the last such switch, so
 * the others are those of Playwright's list that are at work in a headless browser.
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

/** One a test process, started when it is first asked for. */
let browser: Promise<Browser> | undefined;

/** Starts the system's Chromium without a window. Rejects where none is installed. */
export function startChromium(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

async function launch(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) {
    throw new Error('This needs Chromium: install it (apt-get install chromium, brew install chromium).');
  }
  // Root and containers have no sandbox for it; it loads nothing but our own page here.
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
