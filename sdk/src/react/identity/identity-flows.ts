import { type IdentityRequest, openIdentityDialog } from './identity-dialog.ts';

/** Shows the provider's page in a frame. */
export function openHostedFlow(
  urlTemplate: string,
  token: string,
  { signal, dialog }: IdentityRequest,
): Promise<void> {
  return openIdentityDialog(signal, dialog, (container) => {
    const frame = document.createElement('iframe');
    frame.className = 'cw-identity-frame';
    frame.title = dialog.title;
    frame.allow = 'camera; microphone; fullscreen';
    frame.src = urlTemplate.replaceAll('{kyc_token}', encodeURIComponent(token));
    container.append(frame);
    return undefined;
  });
}

type WebSdk = {
  init(token: string, refresh: () => Promise<string>): WebSdk;
  withConf(conf: { lang: string; theme: string }): WebSdk;
  withOptions(options: { addViewportTag: boolean; adaptIframeHeight: boolean }): WebSdk;
  build(): { launch(selector: string): void; destroy?(): void };
};

const WEB_SDK_URL = 'https://static.sumsub.com/idensic/static/sns-websdk-builder.js';

/** Loads Sumsub's web SDK and shows its flow. */
export async function openSumsubFlow(
  language: string,
  token: string,
  { refreshToken, signal, dialog }: IdentityRequest,
): Promise<void> {
  const sdk = await loadWebSdk();
  await openIdentityDialog(signal, dialog, (container) => {
    container.id = 'cw-identity-container';
    const flow = sdk
      .init(token, refreshToken)
      .withConf({ lang: language, theme: themeOf(container) })
      .withOptions({ addViewportTag: false, adaptIframeHeight: true })
      .build();
    flow.launch(`#${container.id}`);
    return () => flow.destroy?.();
  });
}

/**
 * Returns the theme that the host has set with `color-scheme` for an element. If the host allows both themes, returns
 * the system theme.
 */
function themeOf(element: Element): 'light' | 'dark' {
  const { colorScheme } = getComputedStyle(element);
  if (!colorScheme.includes('dark')) return 'light';
  const isEither = colorScheme.includes('light');
  return isEither && !matchMedia('(prefers-color-scheme: dark)').matches ? 'light' : 'dark';
}

function loadWebSdk(): Promise<WebSdk> {
  const page = window as { snsWebSdk?: WebSdk };
  if (page.snsWebSdk !== undefined) return Promise.resolve(page.snsWebSdk);
  return new Promise((resolve, reject) => {
    const fail = () => {
      script.remove();
      reject(new Error("We couldn't reach the identity provider. Check your connection and try again."));
    };
    const script = document.createElement('script');
    script.src = WEB_SDK_URL;
    script.async = true;
    script.onload = () => (page.snsWebSdk === undefined ? fail() : resolve(page.snsWebSdk));
    script.onerror = fail;
    document.head.append(script);
  });
}
