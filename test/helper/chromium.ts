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

/** The browser of this test process, started when it is first needed. */
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
  // No sandbox, because root and containers have none; only our own page is loaded here.
  return await chromium.launch({ executablePath, chromiumSandbox: false });
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
