import '@causeway/sdk/react/styles.css';
import type { ReactNode } from 'react';

export const metadata = { title: 'Causeway with Next' };
export const viewport = { colorScheme: 'light dark' };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
