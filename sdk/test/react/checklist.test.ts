import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { done, openWorld, passIdentity, refuse, row, shoot, type World } from './visitor.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 180_000);
afterAll(() => world?.close());

describe('the checklist', () => {
  test('walks a fresh user through identity, documents and wallets to the end', async () => {
    const place = '?view=offer&slug=harbour-quarter&option=accredited&what=checklist';
    await world.visit(place, async ({ page, email }) => {
      await page.getByText('0 of 7 done').waitFor();
      await shoot(page, 'checklist-start');
      await passIdentity(page, 'identity_verification');
      await done(page, 'identity_verification');
      await done(page, 'jurisdiction');
      await passIdentity(page, 'kyc_approved');
      await done(page, 'kyc_approved');
      await passIdentity(page, 'accreditation');
      await done(page, 'accreditation');
      await row(page, 'external_wallet').getByRole('button', { name: 'Connect a wallet' }).click();
      await shoot(page, 'wallets-dialog');
      await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
      await done(page, 'external_wallet');
      await done(page, 'whitelisted_wallet');
      await row(page, 'document').getByRole('button', { name: 'Fill in the form' }).click();
      const name = page.getByLabel('Full legal name');
      expect(await name.inputValue()).not.toBe('');
      await expect.poll(() => name.evaluate((input) => input === document.activeElement)).toBe(true);
      await shoot(page, 'document-form');
      await page.getByRole('button', { name: 'Send me the form' }).click();
      await page.getByText('We sent the link by mail.').waitFor();
      await shoot(page, 'checklist-waiting');
      const act = (action: string) =>
        world.sandbox.control('POST', '/sandbox/documents/actions', {
          ...{ email, action },
          document_type: 'tax_certification',
        });
      await act('decline');
      await page.getByText('You declined the form.').waitFor();
      await row(page, 'document').getByRole('button', { name: 'Start a new form' }).click();
      await page.getByRole('button', { name: 'Send me the form' }).click();
      await page.getByText('We sent the link by mail.').waitFor();
      await act('sign');
      await page.getByText('All done. You can invest now.').waitFor();
      await shoot(page, 'checklist-done');
    });
  }, 120_000);

  test('says so when the identity is refused for good, and when the country is not allowed', async () => {
    const place = '?view=offer&slug=harbour-quarter&option=accredited&what=checklist';
    await world.visit(place, async ({ page, email }) => {
      await page.getByText('0 of 7 done').waitFor();
      const review = (level_name: string, more: object) =>
        world.sandbox.control('POST', '/sandbox/identity/reviews', { email, level_name, ...more });
      const address = { street: 's', city: 'c', state: '', postal_code: '1', country: 'CU' };
      const person = { first_name: 'A', last_name: 'B', date_of_birth: '1990-01-01', tax_id: '1', address };
      await review('Sorting_KYC_Level', { answer: 'GREEN', pii: person });
      await page.reload();
      await row(page, 'jurisdiction').getByText('where this offer is not available').waitFor();
      await review('BasicKYCLevel', { answer: 'RED', reject_type: 'FINAL' });
      await page.reload();
      await row(page, 'kyc_approved').getByText('this decision is final').waitFor();
      await page.getByText('You cannot take part in this option.').waitFor();
      await shoot(page, 'checklist-rejected');
    });
  });

  test('binds a Solana wallet, and lets a user who said no sign again', async () => {
    await world.visit(
      '?view=offer&slug=harbour-quarter&option=any-wallet&what=checklist',
      async ({ page }) => {
        await page.getByText('0 of 2 done').waitFor();
        await refuse(page, 'personal_sign');
        await row(page, 'external_wallet').first().getByRole('button', { name: 'Connect a wallet' }).click();
        await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
        await page.getByText('You turned the request down in your wallet').waitFor();
        await shoot(page, 'wallet-refused');
        await refuse(page, '');
        await page.getByRole('button', { name: 'Sign again' }).click();
        await page.getByText('1 of 2 done').waitFor();
        await row(page, 'external_wallet').last().getByRole('button', { name: 'Connect a wallet' }).click();
        await page.getByRole('button', { name: 'Solana test wallet' }).click();
        await page.getByText('All done. You can invest now.').waitFor();
      },
    );
  });
});
