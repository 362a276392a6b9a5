import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pageHeaders } from '../platform/pages/headers.ts';
import { html } from './html.ts';

test('interpolated text cannot open or close a tag or an attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', ';', '/') }), (text) => {
      const { markup } = html`<p title="${text}">${text}</p>`;
      return !/[<>"']/.test(markup.slice('<p title="'.length, -'</p>'.length).replace('">', ''));
    }),
  );
});

test('nested markup is kept, and null, undefined and false render as nothing', () => {
  const list = ['<a>', 'b'].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${list}${null}${undefined}${false}${0}</ul>`.markup).toBe(
    '<ul><li>&lt;a&gt;</li><li>b</li>0</ul>',
  );
});

test('the content security policy contains origins only, so no URL can add a directive', () => {
  const { 'content-security-policy': policy } = pageHeaders({
    formTargets: [
      'https://app.partner.test/callback;script-src *',
      'com.partner.app:/callback',
      'javascript:alert(1)',
      'not a uri',
    ],
    images: ['https://cdn.partner.test/a b.png', null, 'data:image/png;x'],
  });
  expect(policy).toContain("form-action 'self' https://app.partner.test com.partner.app:;");
  expect(policy).toContain("img-src 'self' data: https://cdn.partner.test;");
  expect(policy).not.toContain('script-src');
});
