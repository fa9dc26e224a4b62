// The icons: 16 by 16, drawn with one line of 1.5.
const kPaths = {
  overview: "M2.500 2.500h4v4.500h-4zM9.500 2.500h4v3h-4zM2.500 9.500h4v4h-4zM9.500 8h4v5.500h-4z",
  box: "M8 1.800 13.500 4.900v6.200L8 14.200 2.500 11.100V4.900zM2.500 4.900 8 8l5.500-3.100M8 8v6.200",
  steps: "M1.500 13.500h3.500v-3.500h3.500v-3.500h3V3h3",
  plan: "M4.500 8 11.500 4M4.500 8l7 4M4.500 8a1.750 1.750 0 1 1-3.500 0 1.750 1.750 0 0 1 3.500 0zM15 3.800a1.750 1.750 0 1 1-3.500 0 1.750 1.750 0 0 1 3.500 0zM15 12.200a1.750 1.750 0 1 1-3.500 0 1.750 1.750 0 0 1 3.500 0z",
  flow: "M3 2v9.500h4M3 6h4M7 4.500h6.500v3H7zM7 10h6.500v3H7z",
  env: "M2 4.500 8 1.800l6 2.700-6 2.700zM2 8l6 2.700L14 8M2 11.500l6 2.700 6-2.700",
  audit: "M3.500 1.800h6l3 3v9.400h-9zM9.500 1.800v3h3M5.800 8h4.400M5.800 10.800h4.400",
  key: "M6.500 8.500a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM6.500 8.500h9M13 8.500v3M10.500 8.500v2",
  search: "M11.500 7a4.500 4.500 0 1 1-9 0 4.500 4.500 0 0 1 9 0zM10.300 10.300 14 14",
  moon: "M13.500 9.500A6 6 0 0 1 6.500 2.500a6 6 0 1 0 7 7z",
  sun: "M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  help: "M14.200 8A6.200 6.200 0 1 1 1.800 8a6.200 6.200 0 0 1 12.400 0zM6.200 6.400a1.800 1.800 0 1 1 2.600 1.600c-.600.300-.800.600-.800 1.200M8 11.200v.100",
  user: "M10.500 5a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0zM3 14c.300-3 2-4.500 5-4.500s4.700 1.500 5 4.500",
  pause: "M5.500 3v10M10.500 3v10",
  play: "M4.500 2.800 12.500 8l-8 5.200z",
  advance: "M2.500 3.500 8 8l-5.500 4.500zM8.500 3.500 14 8l-5.500 4.500z",
  abort: "M14.200 8A6.200 6.200 0 1 1 1.800 8a6.200 6.200 0 0 1 12.400 0zM5.500 8h5",
  undo: "M5.500 3 2.500 6l3 3M2.500 6h7a3.500 3.500 0 0 1 0 7h-3",
  retry: "M13.500 8a5.500 5.500 0 1 1-1.700-4M13.500 1.800v3h-3",
  copy: "M5.500 5.500h8v8h-8zM3.500 10.500h-1v-8h8v1",
  check: "M3 8.500 6.500 12 13 4.500",
  x: "M4 4l8 8M12 4l-8 8",
  more: "M3.500 8h.100M8 8h.100M12.500 8h.100",
  lock: "M3.500 7.200h9v6.300h-9zM5.500 7.200V5a2.500 2.500 0 0 1 5 0v2.200",
  unlock: "M3.500 7.200h9v6.300h-9zM5.500 7.200V4.800a2.500 2.500 0 0 1 4.900-.700",
  right: "M6 3.500 10.500 8 6 12.500",
  left: "M10 3.500 5.500 8 10 12.500",
  arrow: "M2.500 8h11M10 4.500 13.500 8 10 11.500",
  menu: "M2 4h12M2 8h12M2 12h12",
  split: "M2 8h4l3-4h5M6 8l3 4h5M12 2.500 14 4l-2 1.500M12 10.500 14 12l-2 1.500",
  swap: "M2 5.500h11M10.500 3 13 5.500 10.500 8M14 10.500H3M5.500 8 3 10.500 5.500 13",
  external: "M6.500 3.500h-4v10h10v-4M9 2.500h4.500V7M13.500 2.500 7.500 8.500",
  filter: "M2 4h12M4.500 8h7M7 12h2",
  logout: "M6.500 2.500h-4v11h4M6.500 8h7M11 5l3 3-3 3",
  upload: "M8 11V3M4.500 6 8 2.500 11.500 6M2.500 13.500h11",
  download: "M8 2v8M4.500 7 8 10.500 11.500 7M2.500 13.500h11",
  fit: "M2.500 6v-3.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10",
} as const;

export type IconName = keyof typeof kPaths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={kPaths[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <rect x="1" y="1" width="22" height="22" rx="6" fill="var(--primary)" />
      <g fill="none" stroke="var(--primary-text)" stroke-width="1.800" stroke-linecap="round" stroke-linejoin="round">
        <path d="M7 18V6h10v12M7 10h10" />
        <path d="M6.500 14.500c1.200-1 2.300-1 3.500 0s2.300 1 3.500 0 2.300-1 3.500 0" />
      </g>
    </svg>
  );
}
