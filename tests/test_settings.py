"""Settings that the environment gives."""

from __future__ import annotations

import pytest

from transformer.settings import Config


@pytest.mark.parametrize("text", ["abc", "0", "-1", "2.5"])
def test_numbers_that_are_none_are_told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("TRANSFORMER_CPU_DEVICES", text)
    with pytest.warns(RuntimeWarning, match=f"TRANSFORMER_CPU_DEVICES is '{text}', which is not a positive integer"):
        assert Config().cpu_devices == 1


@pytest.mark.parametrize(("text", "on"), [("1", True), ("yes", True), ("0", False), ("false", False), ("", False)])
def test_switches(monkeypatch: pytest.MonkeyPatch, text: str, on: bool) -> None:
    monkeypatch.setenv("TRANSFORMER_INTERNAL_FRAMES", text)
    monkeypatch.setenv("TRANSFORMER_ENABLE_X64", text)
    assert Config().internal_frames is on and Config().enable_x64 is on
