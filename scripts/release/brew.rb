# Installs the archive of a Homebrew formula into a folder as Homebrew would, where there is none:
#
#   ruby scripts/release/brew.rb formula folder
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

# What the formula calls of Homebrew.
class Formula
  class << self
    attr_reader :given

    def desc(*) = nil
    def version(*) = nil
    def license(*) = nil
    def test = nil
    def on_linux = yield
    def on_macos = nil
    def on_intel = (yield if RUBY_PLATFORM.start_with?("x86_64"))
    def on_arm = (yield if RUBY_PLATFORM.start_with?("aarch64"))
    def url(value) = (@given ||= {})[:url] = value
    def sha256(value) = (@given ||= {})[:sha256] = value
  end

  def libexec = PREFIX/"libexec"
  def bin = PREFIX/"bin"
end

class Pathname
  def install(names)
    mkpath
    FileUtils.cp_r(names, self)
  end

  def install_symlink(target)
    mkpath
    FileUtils.ln_s(target, self/target.basename)
  end
end

PREFIX = Pathname(ARGV.fetch(1)).expand_path
load File.expand_path(ARGV.fetch(0))
archive = Dragoman.given.fetch(:url).delete_prefix("file://")
abort "brew: #{archive} has another sha256" unless Digest::SHA256.file(archive).hexdigest == Dragoman.given.fetch(:sha256)
Dir.mktmpdir do |folder|
  system("tar", "-xzf", archive, "-C", folder, "--strip-components=1", exception: true)
  Dir.chdir(folder) { Dragoman.new.install }
end
