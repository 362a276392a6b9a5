import type { ReactNode } from 'react';

const createIcon = (content: ReactNode) =>
  function Icon({ size = 18 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.8}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {content}
      </svg>
    );
  };

export const SunIcon = createIcon(
  <>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4" />
  </>,
);
export const MoonIcon = createIcon(<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z" />);
export const SystemIcon = createIcon(
  <>
    <rect x="3" y="4.5" width="18" height="12" rx="2" />
    <path d="M9 20.5h6M12 16.5v4" />
  </>,
);
export const WalletIcon = createIcon(
  <>
    <path d="M4 7.5A2.5 2.5 0 0 1 6.5 5H17v3" />
    <rect x="4" y="8" width="16.5" height="11" rx="2" />
    <path d="M16.5 13.5h.01" strokeWidth={2.6} />
  </>,
);
export const PersonIcon = createIcon(
  <>
    <circle cx="12" cy="8.5" r="3.7" />
    <path d="M4.8 20c.9-3.7 3.8-5.7 7.2-5.7s6.3 2 7.2 5.7" />
  </>,
);
export const OffersIcon = createIcon(
  <>
    <rect x="3.5" y="4" width="7" height="7" rx="1.5" />
    <rect x="13.5" y="4" width="7" height="7" rx="1.5" />
    <rect x="3.5" y="14" width="7" height="6.5" rx="1.5" />
    <rect x="13.5" y="14" width="7" height="6.5" rx="1.5" />
  </>,
);
export const ListIcon = createIcon(<path d="M4 18.5 9.5 12l4 3.5L20 7M15.5 7H20v4.5" />);
export const CodeIcon = createIcon(<path d="m8 7-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14" />);
export const CloseIcon = createIcon(<path d="m6 6 12 12M18 6 6 18" />);
export const CopyIcon = createIcon(
  <>
    <rect x="8.5" y="8.5" width="11.5" height="11.5" rx="2" />
    <path d="M15.5 5.5v-.5a1.5 1.5 0 0 0-1.5-1.5H5.5A1.5 1.5 0 0 0 4 5v8.5A1.5 1.5 0 0 0 5.5 15H6" />
  </>,
);
export const MailIcon = createIcon(
  <>
    <rect x="3" y="5" width="18" height="14" rx="2" />
    <path d="m3.5 7 8.5 6 8.5-6" />
  </>,
);
export const BackIcon = createIcon(<path d="M19 12H5M11 6l-6 6 6 6" />);
export const SignOutIcon = createIcon(<path d="M10 4H5v16h5M14 8l4 4-4 4M18 12H9" />);
export const ToolsIcon = createIcon(
  <path d="M14.5 6.5a4 4 0 0 1 5-1.5l-2.7 2.7 1.5 1.5L21 6.5a4 4 0 0 1-5.5 4.9L8 19a2.1 2.1 0 0 1-3-3l7.6-7.5a4 4 0 0 1 1.9-2Z" />,
);
