// Light or dark: what the system says, unless a person chose.
import { effect, signal } from "@preact/signals";

type Theme = "system" | "light" | "dark";
const kKey = "sluice.theme";

export const theme = signal<Theme>((localStorage.getItem(kKey) as Theme | null) ?? "system");
const system = matchMedia("(prefers-color-scheme: dark)");
export const systemDark = signal(system.matches);
system.addEventListener("change", () => (systemDark.value = system.matches));

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

export const isDark = (): boolean => (theme.value === "system" ? systemDark.value : theme.value === "dark");

export function toggleTheme(): void {
  theme.value = isDark() ? "light" : "dark";
  localStorage.setItem(kKey, theme.value);
}
