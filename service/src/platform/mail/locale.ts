/** The languages that mails are written in. The first is the default. */
export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];

/** Converts text to a locale. Returns null if we have no mails in that language. */
export function parseLocale(text: string | null | undefined): Locale | null {
  return LOCALES.find((locale) => locale === text) ?? null;
}

/** Returns the mail language that the browser prefers (RFC 9110, section 12.5.4). */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  const wanted = (acceptLanguage ?? '').split(',').map((range) => {
    const [tag = '', ...parameters] = range.trim().toLowerCase().split(';');
    const weight = parameters.map((parameter) => /^\s*q=([\d.]+)$/.exec(parameter)?.[1]).find(Boolean);
    return { locale: parseLocale(tag.split('-')[0]), weight: Number(weight ?? 1) };
  });
  const [best] = wanted
    .filter(({ locale, weight }) => locale !== null && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return best?.locale ?? LOCALES[0];
}
