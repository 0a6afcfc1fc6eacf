import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What passes is neither described nor sent here. */
const RUN = `axe.run(document, {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
}).then(({ violations }) => violations)`;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Faults that axe finds in the page as it is now, a line each: the rule, the element, and the reason. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Run by the debugger, because the page's content security policy refuses a script tag; once a document, as it is half
  // a megabyte.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const violations = (await page.evaluate(RUN)) as readonly Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary.replaceAll('\n', ' ')}`),
  );
}
