import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createCauseway } from '../../client.ts';
import { createMockService, offerFixture, participationFixture } from '../../testing/index.ts';
import { checkAmount } from '../checkout/use-amount.ts';
import {
  CausewayProvider,
  type CausewayProviderProps,
  OffersGrid,
  ParticipationsList,
  preload,
} from '../index.ts';
import { formatsOf } from './format.ts';
import { createUi } from './ui.tsx';

const LOCALES = ['en-GB', 'en-US', 'de', 'fr', 'es', 'de-CH', 'pt-BR', 'pl', 'hi', 'ar'];

async function render(settings: Partial<CausewayProviderProps>): Promise<string> {
  const participations = [participationFixture({ amount_string: '1250.5' })];
  const mock = createMockService({ offers: [offerFixture('platform::token_sale')], participations });
  const client = createCauseway({ baseUrl: 'https://api.test', accessToken: 't', fetch: mock.fetch });
  const initial = await preload(client, (queries) => [queries.offers(), queries.participations()]);
  const children = createElement('main', {}, createElement(OffersGrid), createElement(ParticipationsList));
  return renderToString(createElement(CausewayProvider, { client, initial, ...settings, children }));
}

test('components speak the language and write the numbers and dates of the host', async () => {
  const messages = { 'Token sale': 'Tokenverkauf', Minimum: 'Ab', Completed: 'Abgeschlossen' };
  const html = await render({ locale: 'de', messages });
  for (const text of [
    'Tokenverkauf',
    'Ab',
    'Abgeschlossen',
    '1.250,5',
    '1,25\u00a0$',
    '2. Jan. 2026, 03:04 UTC',
  ])
    expect(html).toContain(text);
  // Text without a translation stays in English.
  expect(html).toContain('Price');
  expect(await render({})).toMatch(/Token sale.*2 Jan 2026, 03:04 UTC.*1,250\.5/s);
});

test('parts have the classes of the host after those of the SDK', async () => {
  const classNames = { card: 'rounded-xl', badge: 'pill', 'offer-card': 'offer' };
  const html = await render({ appearance: { classNames } });
  expect(html).toContain('class="cw-card cw-offer-card rounded-xl offer"');
  expect(html).toContain('class="cw-badge cw-tone-good pill"');
});

test('placeholders are filled once, and in any order', () => {
  const { t } = createUi({ messages: { '{done} of {total} done': '{total} gesamt, {done} fertig' } });
  expect(t('{done} of {total} done', { done: '{total}', total: 7 })).toBe('7 gesamt, {total} fertig');
});

test('a check has the text of the host for its code, or else that of the service', () => {
  const { check } = createUi({ messages: { 'check:supply': 'Ausverkauft.' } });
  expect([check('supply', 'Sold out.'), check('account', 'On hold.')]).toEqual(['Ausverkauft.', 'On hold.']);
});

test('what a locale shows, its users can type, exactly', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LOCALES), fc.bigInt({ min: 1n, max: 2n ** 100n }), (locale, units) => {
      const { format, t } = createUi({ locale });
      const limits = { decimals: 6, code: 'USDC', balance: undefined };
      const shown = format.tokenAmount(units, limits).replace(' USDC', '');
      const decimal = `${units / 1_000_000n}.${(units % 1_000_000n).toString().padStart(6, '0')}`;
      for (const typed of [shown, format.toInput(decimal)])
        expect(checkAmount(typed, limits, { t, format })).toEqual({ units, problem: null });
    }),
  );
});

test.each(['1.5', '1,000.5', '1.50', '1,5,0', '0.500'])(
  '%j is refused where the comma is the decimal separator',
  (text) => {
    const ui = createUi({ locale: 'de' });
    const { problem } = checkAmount(text, { decimals: 6, code: 'USDC', balance: undefined }, ui);
    expect(problem).toBe('Enter an amount, for example 250,50.');
  },
);

test('dollars have their symbol where the locale puts it', () => {
  expect(['en-GB', 'de', 'pt-BR'].map((locale) => formatsOf(locale).usd('1000.5'))).toEqual([
    ...['$1,000.50', '1.000,50\u00a0$', '$\u00a01.000,50'],
  ]);
});

test('every listed message is used', () => {
  const folder = new URL('..', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => /(?<!\.test)\.tsx?$/.test(name) && !name.endsWith('ui/messages.ts'));
  const text = sources.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const list = readFileSync(new URL('messages.ts', import.meta.url), 'utf8');
  const messages = [...list.matchAll(/^ {2}\| (['"])(.+)\1;?$/gm)].map(([, , message = '']) => message);
  expect(messages.length).toBeGreaterThan(100);
  expect(
    messages.filter((message) => !text.includes(`'${message}'`) && !text.includes(`"${message}"`)),
  ).toEqual([]);
});
